/** The tree of a job: what it shares with its root, and whom its end concerns. */
import { cancelledJob } from '#decisions/agent/cancelling'
import { childEnded, type Parent } from '#decisions/agent/family'
import type { Job } from '#domain/agent/job/job'
import type { StepHead } from '#domain/agent/job/step'
import { jobPart, type OpenJob, openTreeOf, treeFacts } from '#store/agent/jobs'
import { stepPart } from '#store/agent/steps'
import type { Gate } from '#store/engine/letter'
import { when } from '#store/engine/load'
import type { JobChanges } from './changes.ts'

export interface Family {
  /** What a person asked for. */
  goal: string
  /** Calls of the model that the whole tree has made. */
  calls: number
  parent: Parent | undefined
  /** Jobs below it that are not over. */
  below: readonly OpenJob[]
}

const waitsForChild = ({ state, awaits_kind }: Pick<StepHead, 'state' | 'awaits_kind'>): boolean =>
  state === 'waiting' && awaits_kind === 'child'

/** What to load of a job's family. */
export const familyParts = (
  { id, root_id, parent_id, parent_step_id }: Job,
  heads: readonly Omit<StepHead, 'way'>[],
) => ({
  tree: treeFacts(root_id),
  parentJob: when(parent_id !== null, jobPart(parent_id ?? id)),
  parentStep: when(parent_step_id !== null, stepPart(parent_step_id ?? id)),
  below: when(heads.some(waitsForChild), openTreeOf(id)),
})

interface LoadedFamily {
  tree: { goal: string; model_calls: number }
  parentJob: Parent['job']
  parentStep: Parent['step']
  below: readonly OpenJob[] | undefined
}

export const familyOf = (
  job: Job,
  { tree, parentJob, parentStep, below = [] }: LoadedFamily,
): Family => ({
  ...{ goal: tree.goal, calls: tree.model_calls, below: below.filter(({ id }) => id !== job.id) },
  parent: job.parent_id === null ? undefined : { job: parentJob, step: parentStep },
})

interface Parting {
  changes: JobChanges
  family: Family
  gate: Pick<Gate, 'now'>
}

/**
 * Calls off what the job's children still do. None of them runs now: the tree has one concurrency
 * key, and this letter holds it.
 */
export const callOffBelow = ({ changes, family, gate }: Parting): void => {
  for (const one of family.below) {
    const { effects } = cancelledJob(one, gate.now)
    changes.also({ ...effects, settled: one.work ? [one.work] : [] })
  }
}

/** The job is over. */
export const part = (at: Parting): void => {
  const { changes, family, gate } = at
  callOffBelow(at)
  if (family.parent) changes.also(childEnded(family.parent, changes.job, gate.now))
}
