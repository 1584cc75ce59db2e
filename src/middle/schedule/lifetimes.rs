//! Register pressure of a schedule: the live values in each clock of the interval, over all iterations in flight.

use crate::graph::Graph;

/// The most registers that each agent holds at a time.
///
/// A value is live from the start of its operation to the start of its last user, on the agent of its operation and
/// on the agent of each user. A live range longer than an interval is counted once for each iteration in flight.
pub fn peaks(graph: &Graph, interval: u32, times: &[i64], agents: &[usize]) -> Vec<u32> {
    let wide = i64::from(interval);
    let mut held = vec![vec![0i64; interval as usize + 1]; graph.agents.len()];
    let mut base = vec![0i64; graph.agents.len()];
    let mut users = vec![vec![]; graph.nodes.len()];
    graph.edges.iter().filter(|e| e.value).for_each(|e| users[e.from].push(e));
    for (node, n) in graph.nodes.iter().enumerate().filter(|(_, n)| n.registers > 0) {
        for agent in 0..graph.agents.len() {
            let ends = users[node].iter().filter(|e| agents[e.to] == agent);
            let end = ends.map(|e| times[e.to] + wide * i64::from(e.distance)).max();
            // At least one clock on its own agent.
            let end = if agents[node] == agent { Some(end.unwrap_or(0).max(times[node] + 1)) } else { end };
            let Some(end) = end else { continue };
            let (registers, length) = (i64::from(n.registers), end - times[node]);
            base[agent] += registers * (length / wide);
            let (first, rest) = (times[node].rem_euclid(wide), length % wide);
            let mut add = |from: i64, to: i64| {
                held[agent][from as usize] += registers;
                held[agent][to as usize] -= registers;
            };
            if first + rest <= wide {
                add(first, first + rest);
            } else {
                add(first, wide);
                add(0, first + rest - wide);
            }
        }
    }
    let most = |(row, base): (&Vec<i64>, &i64)| {
        let mut sum = *base;
        let sums = row.iter().map(|change| {
            sum += change;
            sum
        });
        u32::try_from(sums.max().unwrap_or(0)).unwrap_or(u32::MAX)
    };
    held.iter().zip(&base).map(most).collect()
}

/// Returns an agent that exceeds its registers, with the number that it holds.
pub fn over_budget(graph: &Graph, peaks: &[u32]) -> Option<(usize, u32)> {
    let over =
        |(agent, held): (usize, &u32)| graph.agents[agent].registers.filter(|most| held > most).map(|_| (agent, *held));
    peaks.iter().enumerate().find_map(over)
}
