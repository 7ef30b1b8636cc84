use super::*;

#[track_caller]
fn read(text: &str) -> Field {
    text.parse()
        .unwrap_or_else(|invalid: Invalid| panic!("{invalid}"))
}

#[test]
fn text_is_canonical() {
    let check = |text: &str, canonical: &str| assert_eq!(read(text).to_string(), canonical);
    for text in [
        "size:int32:min=1:max=5:default=3",
        "image:string:minLength=1:pattern=\"^[a-z:]+$\"",
        "mode:enum=Fast|Slow:default=Slow",
        "modes:[enum=\"a:b\"|\"c]\"|d]:listType=set",
        "ports:[Port]:listType=map:listMapKey=name:optional",
        "Port.name:string",
        "labels:map[string]string",
        "quota:map[string]Quantity",
        "template:PodTemplateSpec:immutable",
        "ratio:number:min=0.5",
        "text:string:default=\"\":doc=\"a: \"\"b\"\"\"",
        "text:string:doc=say \"hello\"",
        "limit:IntOrString:default=25%",
        "limit:IntOrString:default=3",
        "timeout:Duration:default=5m",
    ] {
        check(text, text);
    }
    check(
        "size:int32:optional:max=5:min=1",
        "size:int32:min=1:max=5:optional",
    );
    check("password:secretRef", "password:SecretKeySelector");
    check("name:string:pattern=\"^a$\"", "name:string:pattern=^a$");
}
