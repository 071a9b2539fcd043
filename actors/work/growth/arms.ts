/**
 * Batches for experiments: each arm's share is drafted with the arm's note, one arm after the
 * other, in one generation.
 */
import {
  addUsage,
  type Draft,
  type DraftBrief,
  type DraftSet,
  joinedModels,
} from '#domain/growth/drafting/draft'
import { type ArmShare, divide, partOf } from '#domain/growth/learning/experiment'
import { type Drafter, GenerationError } from '#port/model/drafter'
import type { Sql } from '#store/engine/db'
import { findExperiment, itemsByArm } from '#store/growth/experiments'

/** `shares`: how the posts are divided over an experiment's arms; absent without one. */
export interface BatchBrief extends DraftBrief {
  shares?: ArmShare[]
}

/** Drafts, each with its arm if there is an experiment. */
interface DraftedArms extends DraftSet {
  drafts: (Draft & { arm?: string })[]
}

export interface BatchSet extends DraftedArms {
  /** How many drafts were asked for. */
  asked: number
}

/**
 * Computed from the arms' counts without this batch, so that each run of the batch divides it
 * alike. `asked`: how many posts earlier runs asked for.
 */
export const sharesOf = async (
  sql: Sql,
  batch: { id: string; experiment_id: string | null; requested: number },
  asked: number,
): Promise<Pick<BatchBrief, 'shares'>> => {
  if (!batch.experiment_id) return {}
  const { arms, tally } = await findExperiment(sql, batch.experiment_id)
  const own = asked === 0 ? [] : await itemsByArm(sql, batch.id)
  const others = tally.map((one) => ({
    ...one,
    items: one.items - (own.find(({ arm }) => arm === one.arm)?.items ?? 0),
  }))
  return {
    shares: partOf(
      divide({ arms, tally: others, seed: batch.id }, batch.requested),
      asked,
      batch.requested,
    ),
  }
}

interface Written {
  sets: DraftedArms[]
  refused: GenerationError | undefined
}

/** The next posts of a batch, as many as the drafter writes at once. */
export const draftNext = async (
  drafter: Drafter,
  brief: BatchBrief,
  signal: AbortSignal,
): Promise<BatchSet> => {
  const asked = Math.min(brief.count, drafter.atOnce)
  const { shares, ...rest } = brief
  const next = { ...rest, count: asked }
  return {
    ...(shares
      ? await draftArms(drafter, next, partOf(shares, 0, asked), signal)
      : await drafter.draft(next, signal)),
    asked,
  }
}

/**
 * An arm that cannot be drafted does not stop the others. If none can, throws the last arm's error.
 */
const draftArms = async (
  drafter: Drafter,
  brief: DraftBrief,
  shares: ArmShare[],
  signal: AbortSignal,
): Promise<DraftedArms> => {
  const written: Written = { sets: [], refused: undefined }
  for (const share of shares) await draftArm({ drafter, brief, signal, written }, share)
  const [first, ...others] = written.sets
  if (!first)
    throw written.refused ?? new GenerationError('no arm of the experiment had a post to draft')
  return others.reduce(joinArms, first)
}

const draftArm = async (
  {
    drafter,
    brief,
    signal,
    written,
  }: { drafter: Drafter; brief: DraftBrief; signal: AbortSignal; written: Written },
  { arm, count }: ArmShare,
): Promise<void> => {
  const before = written.sets.flatMap(({ drafts }) => drafts)
  const own = {
    ...brief,
    count,
    recent: [...before, ...brief.recent],
    ...(arm.note === null ? {} : { trial: arm.note }),
  }
  try {
    const { drafts, ...set } = await drafter.draft(own, signal)
    // Never more than the share: the rest belongs to other arms.
    written.sets.push({
      ...set,
      drafts: drafts.slice(0, count).map((draft) => ({ ...draft, arm: arm.name })),
    })
  } catch (cause) {
    if (!(cause instanceof GenerationError)) throw cause
    written.refused = cause
  }
}

const joinArms = (a: DraftedArms, b: DraftedArms): DraftedArms => ({
  drafts: [...a.drafts, ...b.drafts],
  model: joinedModels(a.model, b.model),
  usage: addUsage(a.usage, b.usage),
})
