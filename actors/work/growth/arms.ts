/** Batches for experiments: each arm's share is drafted with the arm's note, one arm after the other, in one generation. */
import type { Draft, DraftBrief, DraftSet, ModelUsage } from '#domain/growth/drafting/draft'
import { divide, type Share } from '#domain/growth/learning/experiment'
import { type Drafter, GenerationError } from '#port/model/drafter'
import type { Sql } from '#store/engine/db'
import { findExperiment } from '#store/growth/experiments'

/** `shares`: how the posts are divided over an experiment's arms; absent without one. */
export interface BatchBrief extends DraftBrief {
  shares?: Share[]
}

/** Drafts, each with its arm if there is an experiment. */
export interface BatchSet extends DraftSet {
  drafts: (Draft & { arm?: string })[]
}

/** From the arms' counts when the batch begins. */
export const sharesOf = async (
  sql: Sql,
  batch: { id: string; experiment_id: string | null; requested: number },
): Promise<Pick<BatchBrief, 'shares'>> => {
  if (!batch.experiment_id) return {}
  const { arms, tally } = await findExperiment(sql, batch.experiment_id)
  return { shares: divide({ arms, tally, seed: batch.id }, batch.requested) }
}

const sum = (a: ModelUsage, b: ModelUsage): ModelUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cost_micros: a.cost_micros + b.cost_micros,
})

interface Written {
  sets: BatchSet[]
  refused: GenerationError | undefined
}

/** An arm that cannot be drafted does not stop the others. If none can, throws the last arm's error. */
export const draftArms = async (drafter: Drafter, { shares, ...brief }: BatchBrief, signal: AbortSignal): Promise<BatchSet> => {
  if (!shares) return drafter.draft(brief, signal)
  const written: Written = { sets: [], refused: undefined }
  for (const share of shares) await draftArm({ drafter, brief, signal, written }, share)
  const [first, ...others] = written.sets
  if (!first) throw written.refused ?? new GenerationError('no arm of the experiment had a post to draft')
  return others.reduce(joined, first)
}

const draftArm = async (
  { drafter, brief, signal, written }: { drafter: Drafter; brief: DraftBrief; signal: AbortSignal; written: Written },
  { arm, count }: Share,
): Promise<void> => {
  const before = written.sets.flatMap(({ drafts }) => drafts)
  const own = { ...brief, count, recent: [...before, ...brief.recent], ...(arm.note === null ? {} : { trial: arm.note }) }
  try {
    const { drafts, ...set } = await drafter.draft(own, signal)
    // Never more than the share: the rest belongs to other arms.
    written.sets.push({ ...set, drafts: drafts.slice(0, count).map((draft) => ({ ...draft, arm: arm.name })) })
  } catch (cause) {
    if (!(cause instanceof GenerationError)) throw cause
    written.refused = cause
  }
}

const joined = (a: BatchSet, b: BatchSet): BatchSet => ({
  drafts: [...a.drafts, ...b.drafts],
  model: [...new Set([...a.model.split(', '), ...b.model.split(', ')])].join(', '),
  usage: sum(a.usage, b.usage),
})
