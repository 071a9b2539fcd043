import type { OpenJob } from '#store/agent/jobs'
import type { CallInFlight } from '#store/agent/steps'
import type { LiveLanes } from '../deciding.ts'

/**
 * Stops whatever is running for these jobs. Returns the rows of work that are over, and the outside
 * calls that can no longer be stopped: such a call's row is settled when its outcome arrives.
 */
export const stopJobs = (
  tree: readonly OpenJob[],
  calls: readonly CallInFlight[],
  lanes: LiveLanes,
) => {
  const works = new Set(tree.flatMap(({ work }) => work ?? []))
  const recalled = new Set(lanes.recall((work) => works.has(work.id)).map(({ id }) => id))
  const onTheirWay = new Set(lanes.ids().filter((id) => !recalled.has(id)))
  const left = new Set(tree.flatMap(({ id, work }) => (work && recalled.has(work) ? [] : id)))
  return {
    settled: [...works].filter((id) => !onTheirWay.has(id)),
    in_flight: calls.filter(({ job_id }) => left.has(job_id)),
  }
}
