/** The limits of a job. Those that depend on the plan are in budget.ts. */

/** Of one job. */
export const jobLimits = {
  /** How many calls of one answer are made. */
  calls: 16,
  /**
   * How many calls of one answer are read. Those that are not made are refused, and any more are
   * only counted.
   */
  readCalls: 64,
  /** How many reads run at once. */
  readsAtOnce: 8,
  /** How many rounds in a row may bring nothing new. After that, the job must conclude. */
  idleRounds: 3,
  /**
   * How many rounds in a row may read with different arguments and get only what the same tools had
   * returned before. After that, the job must conclude too.
   */
  vainRounds: 8,
  /**
   * The most model calls, whatever the plan allows. Even with all calls of each answer, a letter
   * can still read every step.
   */
  modelCalls: 100,
  /** Time spent in steps, counting model calls and tools. Waiting does not count. */
  activeMs: 15 * 60_000,
  /** How many answers in a row may be unusable. */
  unusableAnswers: 3,
}

/** Of the calls that wait for a person. */
export const approvalLimits = {
  ofJob: 16,
  /** In a workspace. */
  all: 200,
  /**
   * The last places are kept for askers who have few, so that one caller, rule or channel cannot
   * silence the others.
   */
  kept: 50,
  few: 10,
}

/** Of the jobs that are open at once. */
export const openJobLimits = {
  /** In a workspace. */
  all: 500,
  /**
   * With this many open jobs, schedules, webhook rules and strangers begin no more: the last places
   * are for members who have few.
   */
  ofOthers: 400,
  few: 20,
  ofConversation: 20,
  /**
   * Commands that people type have places of their own, next to the jobs of models, and in a
   * conversation as many as those.
   */
  commands: 100,
}

export const APPROVAL_MS = 24 * 3_600_000
/**
 * The limit for a statement of a tool that is decided in a letter, because the letter holds up its
 * workspace's mailbox.
 */
export const TOOL_STATEMENT_MS = 1_000
/** If a generation takes longer, it is shown as it is. */
export const GENERATION_WAIT_MS = 170_000
/** How long a job waits behind another job of its conversation before it checks by itself. */
export const BEHIND_MS = 60_000

/**
 * How far typed commands go ahead of everything else that is due now: the kill switch does not wait
 * for a burst of jobs.
 */
const AHEAD_MS = 3_600_000

/** When the work of a job that can continue now is due. */
export const dueNow = ({ typed }: { typed: boolean }, now: Date): Date =>
  typed ? new Date(now.getTime() - AHEAD_MS) : now

/** The pause between two looks at a record that a step waits for. */
const FIRST_POLL_MS = 300
const LONGEST_POLL_MS = 30_000

/**
 * Calls that wait for a person: in the workspace, in a job, and in all jobs that were requested in
 * the same way.
 */
export interface OpenApprovals {
  all: number
  ours: number
  theirs: number
}

/** How many more approvals a job may ask for. */
export const roomForApprovals = ({ all, ours, theirs }: OpenApprovals): number => {
  const kept = Math.min(approvalLimits.all - all, approvalLimits.few - theirs)
  return Math.min(
    Math.max(approvalLimits.all - approvalLimits.kept - all, kept),
    approvalLimits.ofJob - ours,
  )
}

/**
 * Open jobs: in the workspace, in a conversation, and of the asker; and how many of those are typed
 * commands.
 */
export interface OpenJobs {
  all_jobs: number
  our_jobs: number
  their_jobs: number
  all_typed: number
  our_typed: number
}

/** Whether another job may begin. */
export const hasRoomForJob = (
  { all_jobs, our_jobs, their_jobs, all_typed, our_typed }: OpenJobs,
  { typed, most = openJobLimits.all }: { typed: boolean; most?: number },
): boolean => {
  if (typed) return our_typed < openJobLimits.ofConversation && all_typed < openJobLimits.commands
  const room = their_jobs < openJobLimits.few ? most : openJobLimits.ofOthers
  return our_jobs - our_typed < openJobLimits.ofConversation && all_jobs < room
}

/**
 * When to look again at a record that a step has waited for since `since`. Each pause is half of
 * the time waited so far.
 */
export const nextPoll = (since: Date, now: Date): Date => {
  // A clock that was set back must not cause constant looks.
  const waited = Math.abs(now.getTime() - since.getTime())
  return new Date(now.getTime() + Math.min(LONGEST_POLL_MS, Math.max(FIRST_POLL_MS, waited / 2)))
}
