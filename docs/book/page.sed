# What a page has for the repository, rustdoc or the tests, as the book needs it.

# Links.
s#\]\(\.\./README\.md#](README.md#g
s#\]\(docs/#](#g
s#\[([^][]*)\]\(\.github/[^)]*\)#\1#g

# Items of the library, without rustdoc's links.
/^\[`.*`\]: crate::/d
s#\]\(crate::guide::([a-z_]+)#](guide/\1.md#g
s#\[([^][]*)\]\(crate::[^)]*\)#\1#g
s#\[(`[^`]*`)\]([^([]|$)#\1\2#g

# The file of a block stands above it; its marks are for the tests.
s#^```(rust|yaml|toml) ([^ ]*[./][^ ]*).*#`\2`:\n\n```\1#
s#^```(rust|yaml|toml|sh|console)[ ,].*#```\1#
