//! Every action: its plan, and then exactly that.

use crate::support::project::World;
use ckpt::site::Site;

/// The value of a hidden field of a page.
fn field(body: &str, name: &str) -> String {
    let marker = format!("name=\"{name}\" value=\"");
    let rest = body.split_once(&marker).unwrap_or_else(|| panic!("no {name} in {body}")).1;
    rest.split('"').next().unwrap().to_owned()
}

fn form(name: &str, workflow: &str, head: &str, what: &str) -> String {
    let encoded = |text: &str| text.replace('/', "%2F");
    format!("name={name}&workflow={workflow}&head={}&what={}", encoded(head), encoded(what))
}

/// Asks for the plan, checks that nothing happened, and does it.
fn act(world: &World, site: &Site, form: &str, plan: &str) -> String {
    let before = world.tree();
    let shown = site.post("/plan", form);
    assert!(shown.status == 200 && shown.body.contains(plan), "{}: {}", shown.status, shown.body);
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "a plan changes nothing");
    let done = site.post("/apply", &format!("{form}&plan={}", field(&shown.body, "plan")));
    assert_eq!(done.status, 200, "{}", done.body);
    done.body
}

#[test]
fn every_action_shows_its_plan_and_does_it() {
    let world = World::new();
    let save = |args: &[&str]| drop(world.run(&[&["save", "042", "--phase"], args].concat()).succeeds());
    world.configure("[pipelines.gated]\nphases = [{ id = \"plan\", approval = true }, \"build\"]\n");
    save(&["plan", "--pipeline", "gated"]);
    let site = Site::start(&world, &[]);
    assert!(site.get("/w/042").body.contains("needs approval"));
    act(&world, &site, &form("approve", "042", "042/1", "plan"), "Records your approval of phase plan");
    assert_eq!(world.numbers("042"), [1, 2]);
    act(&world, &site, &form("revise", "042", "042/2", "plan"), "Reopens these phases");
    act(&world, &site, &form("rollback", "042", "042/3", "042/2"), "042/2");
    assert_eq!(world.stored("042", 4)["copy_of"]["seq"], 2);
    act(&world, &site, &form("archive", "042", "042/4", "failed"), "042");
    assert!(site.get("/?archived=1").body.contains("042"));
    let head = world.json(&["status", "042"])["handle"].as_str().unwrap().to_owned();
    act(&world, &site, &form("restore", "042", &head, ""), "042");
    assert!(site.get("/").body.contains("/w/042"));
}

#[test]
fn a_cleanup_does_what_its_plan_said_or_nothing() {
    let world = World::new();
    for _ in 0..3 {
        world.run(&["save", "done", "--workflow-status", "complete", "--note", "n"]).succeeds();
        world.run(&["save", "open", "--trigger", "agent_complete", "--phase", "a"]).succeeds();
    }
    let site = Site::start(&world, &[]);
    let shown = site.post("/plan", "name=cleanup");
    let plan = field(&shown.body, "plan");
    assert!(shown.status == 200 && plan.len() == 64, "{}", shown.body);
    for _ in 0..3 {
        world.run(&["save", "open", "--trigger", "agent_complete", "--phase", "a"]).succeeds();
    }
    let form = format!("name=cleanup&plan={plan}");
    assert_eq!(site.post("/apply", &form).status, 409, "another plan by now");
    let again = field(&site.post("/plan", "name=cleanup").body, "plan");
    assert_eq!(site.post("/apply", &format!("name=cleanup&plan={again}")).status, 200);
}

#[test]
fn an_action_on_what_has_changed_meanwhile_is_refused() {
    let world = World::with_checkpoints(2);
    let site = Site::start(&world, &[]);
    let form = form("rollback", "042", "042/2", "042/1");
    assert_eq!(site.post("/plan", &form).status, 200);
    world.run(&["save", "042"]).succeeds();
    for path in ["/plan", "/apply"] {
        let answer = site.post(path, &form);
        assert!(answer.status == 409 && answer.body.contains("042/3 was saved meanwhile"), "{}", answer.body);
    }
    assert_eq!(world.numbers("042"), [1, 2, 3]);
}

#[test]
fn nonsense_is_no_action() {
    let world = World::with_checkpoints(2);
    let site = Site::start(&world, &[]);
    let cases = [
        form("delete", "042", "042/2", ""),
        form("rollback", "042", "042/2", "--help"),
        form("rollback", "043", "042/2", "042/1"),
        form("archive", "042", "042/2", "--delete"),
        form("approve", "--json", "042/2", "plan"),
        form("revise", "042", "042/2", "a%0Ab"),
    ];
    for case in cases {
        let status = site.post("/apply", &case).status;
        assert!((400..500).contains(&status), "{case}: {status}");
    }
    assert_eq!(world.numbers("042"), [1, 2]);
}

#[test]
fn read_only_has_no_actions() {
    let world = World::with_checkpoints(2);
    let site = Site::start(&world, &["--read-only"]);
    assert!(!site.get("/w/042").body.contains("Actions") && !site.get("/").body.contains("token"));
    assert_eq!(site.post("/plan", &form("rollback", "042", "042/2", "042/1")).status, 403);
    assert_eq!(site.post("/apply", &form("rollback", "042", "042/2", "042/1")).status, 403);
}
