/**
 * Calls that wait for a person and become needless: what they ask for was done otherwise, or cannot
 * be done any more, because somebody decided about their record. Pure.
 */
import { type Approval, overtake } from './approval.ts'
import type { CallDecision } from './decision.ts'
import { isOver, type Job } from './job.ts'
import type { Step } from './step.ts'

interface Deed {
  /** What somebody did, as the model is told. */
  did: string
  /** The tool that does the same. */
  same: string
  /** Other tools whose calls about the record it makes needless; `all`: each of them. */
  others: readonly string[] | 'all'
}

const UNSENT = ['growth_schedule_item', 'growth_unschedule_item', 'growth_post_item']

const SENT = ['growth_edit_item', 'growth_reopen_item', 'growth_mark_item_posted', ...UNSENT]

/**
 * By operation, or as a lane names what it does. A call that is still possible afterwards, and not
 * yet done, goes on waiting.
 */
const deeds = {
  'growth.items.approve': {
    did: 'approved it',
    same: 'growth_approve_item',
    others: ['growth_reject_item'],
  },
  'growth.items.reject': {
    did: 'rejected it',
    same: 'growth_reject_item',
    others: ['growth_approve_item', 'growth_edit_item', 'growth_mark_item_posted', ...UNSENT],
  },
  'growth.items.reopen': {
    did: 'made it a draft again',
    same: 'growth_reopen_item',
    others: ['growth_mark_item_posted', ...UNSENT],
  },
  // Of calls that set the very time that somebody has set.
  'growth.items.schedule': {
    did: 'set this time',
    same: 'growth_schedule_item',
    others: [],
  },
  'growth.items.unschedule': {
    did: 'taken it off the schedule',
    same: 'growth_unschedule_item',
    others: [],
  },
  'growth.items.postNow': {
    did: 'asked for it to be posted now',
    same: 'growth_post_item',
    others: ['growth_mark_item_posted', ...UNSENT],
  },
  'growth.items.markPosted': {
    did: 'marked it as posted',
    same: 'growth_mark_item_posted',
    others: ['growth_edit_item', 'growth_reopen_item', ...UNSENT],
  },
  'growth.items.sent': { did: 'posted it', same: 'growth_post_item', others: SENT },
  'growth.items.remove': { did: 'deleted it', same: '', others: 'all' },
  'growth.engagements.approve': {
    did: 'approved it',
    same: 'growth_approve_engagement',
    others: ['growth_reject_engagement'],
  },
  'growth.engagements.reject': {
    did: 'rejected it',
    same: 'growth_reject_engagement',
    others: ['growth_approve_engagement', 'growth_execute_engagement'],
  },
  'growth.engagements.reopen': {
    did: 'made it a draft again',
    same: '',
    others: ['growth_execute_engagement'],
  },
  'growth.engagements.execute': {
    did: 'asked for it to be sent',
    same: 'growth_execute_engagement',
    others: ['growth_reject_engagement'],
  },
  'growth.engagements.done': {
    did: 'marked it as done',
    same: '',
    others: ['growth_approve_engagement', 'growth_reject_engagement', 'growth_execute_engagement'],
  },
  'growth.engagements.sent': { did: 'sent it', same: 'growth_execute_engagement', others: [] },
  'growth.engagements.remove': { did: 'deleted it', same: '', others: 'all' },
  'growth.connections.setDefault': {
    did: 'made it the default account',
    same: 'growth_set_default_account',
    others: [],
  },
  'growth.automation.resumeAll': {
    did: 'resumed automation',
    same: 'growth_resume_automation',
    others: [],
  },
  'growth.experiments.conclude': {
    did: 'concluded it',
    same: 'growth_conclude_experiment',
    others: [],
  },
} satisfies Record<string, Deed>

export type DeedName = keyof typeof deeds

/** The tool that does the same. */
export const toolOfDeed = (deed: DeedName): string => deeds[deed].same

export const isDeed = (operation: string): operation is DeedName => Object.hasOwn(deeds, operation)

/** Whether the call of this tool about a record is needless after somebody did this to it. */
export const isNeedless = (deed: DeedName, tool: string): boolean => {
  const { same, others }: Deed = deeds[deed]
  return tool === same || others === 'all' || others.includes(tool)
}

const doers: Record<NonNullable<Approval['decider']>['kind'], string> = {
  person: 'a person has',
  key: 'a program with a key has',
  agent: 'another job of the agent has',
  system: 'the server has',
}

/** What the job is told instead of a result: the call was not refused. */
const toldOf = (deed: DeedName, tool: string, by: NonNullable<Approval['decider']>): string => {
  const { did, same }: Deed = deeds[deed]
  const who = doers[by.kind]
  return tool === same
    ? `Done already: ${who} ${did} meanwhile, so this call was no longer needed. Nobody refused it. Read the record before you change it further.`
    : `No longer needed: ${who} ${did} meanwhile, so this call was not carried out. Nobody refused it. Read the record before you go on.`
}

/**
 * The same, of a call that was allowed before somebody made it needless. `refusal`: why it cannot
 * run.
 */
export const tooLate = (
  by: NonNullable<Approval['decider']>,
  refusal: Pick<Error, 'message'>,
): string =>
  `No longer needed: ${doers[by.kind]} decided about it meanwhile, so this call was not carried out (${refusal.message}). Nobody refused it. Read the record before you go on.`

/** A call that waits, with what waits for it. */
export interface HeldCall {
  approval: Approval
  job: Job
  step: Step
}

export interface Overtaking {
  deed: DeedName
  by: NonNullable<Approval['decider']>
  /** When the record goes out now, if it has a time. */
  postAt?: Date | null | undefined
  /** The job that does it, if one does: its own calls are its own affair. */
  byJob?: string | undefined
  now: Date
}

const overtaken = ({ approval, step }: HeldCall, { deed, by, now }: Overtaking): CallDecision => ({
  approval: overtake(approval, { by, now }),
  step,
  going: {
    state: 'rejected',
    result: { text: toldOf(deed, approval.tool_name, by) },
    ended_at: now,
  },
})

/** Whether a call would set the time that the record has. */
const isSameTime = ({ arguments: { post_at: at } }: Approval, { postAt }: Overtaking): boolean =>
  typeof at === 'string' && postAt != null && Date.parse(at) === postAt.getTime()

/** The needless ones among calls about a record, by job, as decisions that nobody refused. */
export const overtakenCalls = (
  calls: readonly HeldCall[],
  how: Overtaking,
): { job: Job; all: CallDecision[] }[] => {
  const needless = calls.filter(
    ({ approval, job, step }) =>
      isNeedless(how.deed, approval.tool_name) &&
      (how.deed !== 'growth.items.schedule' || isSameTime(approval, how)) &&
      step.state === 'asked' &&
      !isOver(job) &&
      job.id !== how.byJob,
  )
  return [...Map.groupBy(needless, ({ job }) => job.id).values()].map((ofJob) => ({
    job: ofJob[0]!.job,
    all: ofJob.map((call) => overtaken(call, how)),
  }))
}
