use taut::{BackendChoice, Simulation, scene::Scene};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (method, side, iterations, steps, kind) =
        (&a[1], &a[2], &a[3], a[4].parse::<usize>().unwrap(), &a[5]);
    let text = format!(
        "integrate = false\niterations = {iterations}\npartition.method = \"{method}\"\n[[bodies]]\nname = \"body\"\nkind = \"cloth\"\ndeform = [1.05, 1, 0.97]\nmesh.grid = {{ particles = [{side}, {side}], size = [1, 1] }}\nelements.{kind}\n"
    );
    let scene = Scene::parse("bench", &text, std::path::Path::new("."), &[]).unwrap();
    for choice in [BackendChoice::Cpu(1), BackendChoice::Serial] {
        let mut s = Simulation::new(&scene, choice).unwrap();
        let mut t = vec![];
        for _ in 0..steps {
            s.step().unwrap();
            t.push(
                s.stage_seconds()
                    .into_iter()
                    .filter(|(n, _)| n.starts_with("sweep") || *n == "split" || *n == "merge")
                    .map(|(_, x)| x)
                    .sum::<f64>(),
            );
        }
        t.sort_by(f64::total_cmp);
        println!(
            "{method} {side}: median {:.3} min {:.3} ns",
            t[t.len() / 2] * 1e9
                / (s.model().constraint_count() as f64 * iterations.parse::<f64>().unwrap()),
            t[0] * 1e9 / (s.model().constraint_count() as f64 * iterations.parse::<f64>().unwrap())
        );
        if a.len() > 6 {
            break;
        }
    }
}
