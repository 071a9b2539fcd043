import { experiments } from '#contract/growth/experiments'
import { requireFeature } from '#domain/app/plan'
import {
  conclude,
  experimentView,
  metricOn,
  newExperiment,
  requireRunning,
} from '#domain/growth/learning/experiment'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { countingFor } from '#port/network/registry'
import { defaultPart } from '#store/growth/connections'
import {
  concludeExperiment,
  experimentById,
  experimentPart,
  insertExperiment,
  listExperiments,
  measuredItems,
  runningCount,
} from '#store/growth/experiments'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

export const experimentHandlers: Handlers<typeof experiments> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listExperiments({ ...page, status })),
      page.limit,
    )
    return { experiments: rows.map(experimentView), next_cursor }
  },

  async get({ id }, { read }) {
    const [experiment] = await read(experimentById(id))
    return { experiment: experimentView(found(experiment, 'no such experiment')) }
  },

  create: loading(
    () => ({ count: runningCount, account: defaultPart }),
    ({ name, hypothesis, metric, arms }, { gate, networks }, { count: { running }, account }) => {
      const experiment = newExperiment(newId(), {
        name,
        hypothesis,
        metric: metricOn(countingFor(networks, account), metric),
        arms,
        running,
        now: gate.now,
      })
      requireFeature(gate.plan, experiments.create.feature)
      const reply = { experiment: experimentView({ ...experiment, tally: [] }) }
      return { reply, effects: { writes: [insertExperiment(experiment)] }, refId: experiment.id }
    },
  ),

  conclude: loading(
    ({ id }) => ({ experiment: experimentPart(id), items: measuredItems(id) }),
    ({ result }, { gate }, { items, ...loaded }) => {
      const before = found(loaded.experiment, 'no such experiment')
      requireRunning(before, 'conclude')
      requireFeature(gate.plan, experiments.conclude.feature)
      const experiment = conclude(before, { result, items, now: gate.now })
      return {
        reply: { experiment: experimentView(experiment) },
        effects: { writes: [concludeExperiment(experiment)] },
      }
    },
  ),
}
