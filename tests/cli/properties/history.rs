//! Random histories: how one begins, what happens in it, and which laws are looked at when.

use std::sync::LazyLock;

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

use super::{
    crash::{self, Crash, crash},
    fixture::{self, SETS},
    hands::{Act, act, foreign},
    laws,
    story::{self, tell},
    tool::Tool,
    words::{Command, Wish, command, init, plain_command},
    world::{Tree, World},
};

/// How a project came to be.
#[derive(Clone, Debug)]
enum Start {
    /// By these words.
    Init(Vec<String>),
    /// By these words, in a directory that holds these files, and with a look at the laws.
    Adopt(Vec<&'static str>, Vec<String>),
    /// By an older operator-forge.
    Older(usize, Index),
}

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    Command(Command, Extra),
    Act(Act),
    Update(&'static str),
}

/// What is looked at after a command, beside what always is.
#[derive(Clone, Debug)]
enum Extra {
    Nothing,
    Undo,
    Check,
    Crash(Crash),
}

#[derive(Clone, Debug)]
pub struct History {
    start: Start,
    steps: Vec<Step>,
    /// Whether the laws about whole trees are looked at in the end.
    whole: bool,
}

fn extra() -> impl Strategy<Value = Extra> {
    prop_oneof![
        12 => Just(Extra::Nothing),
        2 => Just(Extra::Undo),
        1 => Just(Extra::Check),
        1 => crash().prop_map(Extra::Crash),
    ]
}

fn update() -> impl Strategy<Value = Step> {
    let policy = [
        "",
        "",
        "--on-conflict=keep",
        "--on-conflict=take",
        "--on-conflict=markers",
    ];
    select(policy.to_vec()).prop_map(Step::Update)
}

/// Commands only.
pub fn plain() -> impl Strategy<Value = History> {
    let step =
        (plain_command(), extra()).prop_map(|(command, extra)| Step::Command(command, extra));
    (init(), vec(step, 2..7), proptest::bool::weighted(0.5)).prop_map(|(words, steps, whole)| {
        History {
            start: Start::Init(words),
            steps,
            whole,
        }
    })
}

/// Commands, and a user's own changes.
pub fn touched() -> impl Strategy<Value = History> {
    let begin = prop_oneof![
        7 => init().prop_map(Start::Init),
        1 => (vec(foreign(), 0..3), init()).prop_map(|(foreign, words)| Start::Adopt(foreign, words)),
    ];
    let step = prop_oneof![
        3 => (command(), extra()).prop_map(|(command, extra)| Step::Command(command, extra)),
        3 => act().prop_map(Step::Act),
    ];
    (begin, vec(step, 3..8)).prop_map(|(start, steps)| History {
        start,
        steps,
        whole: false,
    })
}

/// The same with a project that an older operator-forge made, which is updated at some time.
pub fn older() -> impl Strategy<Value = History> {
    let step = prop_oneof![
        1 => (command(), extra()).prop_map(|(command, extra)| Step::Command(command, extra)),
        3 => act().prop_map(Step::Act),
    ];
    let later = prop_oneof![
        2 => (command(), extra()).prop_map(|(command, extra)| Step::Command(command, extra)),
        1 => act().prop_map(Step::Act),
    ];
    (
        0..SETS.len(),
        any::<Index>(),
        vec(step, 0..5),
        update(),
        vec(later, 0..4),
    )
        .prop_map(|(set, project, mut steps, update, later)| {
            steps.push(update);
            steps.extend(later);
            History {
                start: Start::Older(set, project),
                steps,
                whole: false,
            }
        })
}

/// Of all kinds.
pub fn any_history() -> impl Strategy<Value = History> {
    prop_oneof![4 => plain(), 5 => touched(), 1 => older()]
}

/// The projects of each set.
static OLDER: LazyLock<Vec<Vec<(String, Tree)>>> = LazyLock::new(|| {
    let of = |set| fixture::projects(set).into_iter().collect();
    SETS.into_iter().map(of).collect()
});

/// Lives through a history, and looks at the laws.
pub fn live(tool: Tool, history: &History) {
    story::begin();
    let mut world = World::new(tool);
    let mut accepted: Vec<Vec<String>> = Vec::new();
    let mut before_last = Tree::new();
    match &history.start {
        Start::Init(words) => {
            let done = world.init(words);
            accepted.extend(matches!(done, 0 | 3).then(|| words.clone()));
        }
        Start::Adopt(foreign, words) => {
            for path in foreign {
                world.act(&Act::Foreign(path));
            }
            let done = world.run(words);
            accepted.extend(matches!(done, 0 | 3).then(|| words.clone()));
        }
        Start::Older(set, project) => {
            let (name, files) = project.get(&OLDER[*set]);
            tell(format!("# `{name}` of template set {}", SETS[*set]));
            fixture::write(files, world.path());
            world.look();
            world.touched = true;
        }
    }
    for step in &history.steps {
        let (command, extra) = match step {
            Step::Act(act) => {
                world.act(act);
                continue;
            }
            Step::Command(command, extra) => (command.clone(), extra),
            Step::Update(policy) => {
                let wish = Wish::Words(vec!["update".to_owned()]);
                (Command { wish, policy }, &Extra::Undo)
            }
        };
        let before = world.now.clone();
        let Some((words, true)) = world.command(&command) else {
            continue;
        };
        if words[0] == "create" {
            before_last = before;
        }
        if words[0] != "sync" {
            accepted.push(words);
        }
        match extra {
            Extra::Nothing => {}
            Extra::Undo => world.check_undo(),
            Extra::Check => world.check_commands_that_read(),
            Extra::Crash(crash) => crash::check(&world, crash),
        }
    }
    if history.whole && !world.touched && !accepted.is_empty() {
        laws::check(&world, &accepted, &before_last);
    }
}
