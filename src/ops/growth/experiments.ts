import { experiments } from '#contract/growth/experiments'
import { requireFeature } from '#domain/app/plan'
import { type CountedExperiment, conclude, experimentView, newExperiment, requireRunning } from '#domain/growth/learning/experiment'
import { newId } from '#kernel/ids'
import { countRunning, insertExperiment, listExperiments, lockExperiment, measuredItems, saveExperiment } from '#store/growth/experiments'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

export const experimentHandlers: Handlers<typeof experiments> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<CountedExperiment>(listExperiments({ ...page, status })), page.limit)
    return { experiments: rows.map(experimentView), next_cursor }
  },

  async create({ name, hypothesis, metric = 'engagement_rate', arms }, { sql, gate }) {
    const running = await countRunning(sql)
    const experiment = newExperiment(newId(), { name, hypothesis, metric, arms, running, now: gate.now })
    requireFeature(gate.plan, experiments.create.feature)
    const reply = { experiment: experimentView({ ...experiment, tally: [] }) }
    return { reply, effects: { writes: [insertExperiment(experiment)] }, refId: experiment.id }
  },

  async conclude({ id, result }, { sql, gate }) {
    const before = await lockExperiment(sql, id)
    requireRunning(before, 'conclude')
    requireFeature(gate.plan, experiments.conclude.feature)
    const experiment = conclude(before, { result, items: await measuredItems(sql, id), now: gate.now })
    return { reply: { experiment: experimentView(experiment) }, effects: { writes: [saveExperiment(experiment)] } }
  },
}
