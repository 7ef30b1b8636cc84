//! The calls in pipelines that say something by their names.

use gotmpl::parse::{CommandNode, Expr, Node, Number, PipeNode, SmolStr};

/// A call.
pub struct Call<'a>(&'a CommandNode);

/// Visits each command of a pipeline, and of those in it.
pub fn visit(pipe: &PipeNode, seen: &mut dyn FnMut(Call<'_>)) {
    for command in &pipe.commands {
        seen(Call(command));
        for expr in &command.args {
            inside(expr, seen);
        }
    }
}

fn inside(expr: &Expr, seen: &mut dyn FnMut(Call<'_>)) {
    match expr {
        Expr::Pipe(_, pipe) => visit(pipe, seen),
        Expr::Chain(_, of, _) => inside(of, seen),
        _ => {}
    }
}

/// Whether a node ends the rendering.
pub fn fails(node: &Node) -> bool {
    let Node::Action(action) = node else {
        return false;
    };
    let mut found = false;
    visit(&action.pipe, &mut |call| {
        found |= call.function().is_some_and(|it| it.0 == "fail")
    });
    found
}

/// Whether the result is a value as it stands or as YAML, rather than a text that is made of it.
pub fn gives_whole(pipe: &PipeNode) -> bool {
    const WHOLE: [&str; 16] = [
        "tpl",
        "toYaml",
        "toYamlPretty",
        "mustToYaml",
        "toJson",
        "mustToJson",
        "toPrettyJson",
        "toRawJson",
        "default",
        "ternary",
        "index",
        "get",
        "dig",
        "trim",
        "indent",
        "nindent",
    ];
    let called = |command: &CommandNode| Call(command).function().map(|it| it.0.to_owned());
    let mut called = pipe.commands.iter().filter_map(called);
    called.all(|name| WHOLE.contains(&name.as_str()))
}

/// Whether the result is indented or encoded, so that it is a part of a document and not one of its own.
pub fn is_nested(pipe: &PipeNode) -> bool {
    let mut found = false;
    visit(pipe, &mut |Call(command)| {
        let mut arguments = command.args.iter();
        if let Some(Expr::Identifier(_, name)) = arguments.next() {
            found |= match name.as_str() {
                "indent" | "nindent" => {
                    !matches!(arguments.next(), Some(Expr::Number(_, Number::Int(0))))
                }
                "b64enc" | "quote" | "sha256sum" | "toYaml" => true,
                _ => false,
            };
        }
    });
    found
}

impl Call<'_> {
    fn function(&self) -> Option<(&str, &[Expr])> {
        match self.0.args.split_first()? {
            (Expr::Identifier(_, name), arguments) => Some((name, arguments)),
            _ => None,
        }
    }

    /// API version and kind of a `lookup`.
    pub fn lookup(&self) -> Option<(String, String)> {
        match self.function()? {
            ("lookup", [Expr::String(_, api_version), Expr::String(_, kind), ..]) => {
                Some((api_version.to_string(), kind.to_string()))
            }
            _ => None,
        }
    }

    fn names(&self) -> Option<&[SmolStr]> {
        match self.0.args.first()? {
            Expr::Field(_, names) | Expr::Variable(_, _, names) | Expr::Chain(_, _, names) => {
                Some(names)
            }
            _ => None,
        }
    }

    /// The API that `.Capabilities.APIVersions.Has` asks for.
    pub fn api(&self) -> Option<String> {
        let is_has = self.names()?.last()? == "Has";
        match self.0.args.get(1)? {
            Expr::String(_, api) if is_has => Some(api.to_string()),
            _ => None,
        }
    }

    /// Whether it reads the version of Kubernetes.
    pub fn asks_for_version(&self) -> bool {
        self.0.args.iter().any(|it| match it {
            Expr::Field(_, names) | Expr::Variable(_, _, names) | Expr::Chain(_, _, names) => {
                names.iter().any(|it| it == "KubeVersion")
            }
            _ => false,
        })
    }
}
