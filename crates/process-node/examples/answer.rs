//! What the Pods of the tests run: a server, its client, and a program that fails.

use std::{
    env, fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::ExitCode,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", text] => serve(text),
        ["ask", address] => match ask(address) {
            Ok(answer) => say(&answer),
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        // The same outside a container, which has no termination log.
        ["print", address] => match ask(address) {
            Ok(answer) => {
                println!("{answer}");
                ExitCode::SUCCESS
            }
            Err(_) => ExitCode::FAILURE,
        },
        // What an earlier Pod wrote to the same disk, and now this one.
        ["remember", text] => {
            let before = fs::read_to_string("/data/text").unwrap_or_default();
            fs::write("/data/text", text).expect("the disk can be written to");
            say(&before)
        }
        ["fail", text] => {
            eprintln!("{text}");
            ExitCode::from(3)
        }
        _ => ExitCode::from(2),
    }
}

/// Answers each request on port 8080 with the host's name and `text`.
fn serve(text: &str) -> ExitCode {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let listener =
        TcpListener::bind("0.0.0.0:8080").expect("the port is free: each Pod has its own");
    for stream in listener.incoming().flatten() {
        let mut stream = stream;
        let mut request = [0; 1024];
        _ = stream.read(&mut request);
        let body = format!("{} {text}", host.trim());
        let length = body.len();
        _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
    }
    ExitCode::SUCCESS
}

fn ask(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.lines().last().unwrap_or_default().to_owned())
}

/// Leaves `text` as the termination message.
fn say(text: &str) -> ExitCode {
    fs::write("/dev/termination-log", text).expect("the container has a termination log");
    ExitCode::SUCCESS
}
