/** The limits of a job. Those that depend on the plan are in budget.ts. */

/** How many calls of one answer are made. */
export const MOST_CALLS = 16
/**
 * How many calls of one answer are read. Those that are not made are refused, and any more are only
 * counted.
 */
export const MOST_READ_CALLS = 64
/** How many rounds in a row may bring nothing new. After that, the job must conclude. */
export const MOST_IDLE_ROUNDS = 3
/**
 * How many rounds in a row may read with different arguments and get only what the same tools had
 * returned before. After that, the job must conclude too.
 */
export const MOST_VAIN_ROUNDS = 8
/**
 * The most model calls in a job, whatever its plan allows. Even with all calls of each answer, a
 * letter can still read every step.
 */
export const MOST_THOUGHTS = 100
/** Time spent in steps, counting model calls and tools. Waiting does not count. */
export const MOST_ACTIVE_MS = 15 * 60_000
/** How many answers in a row may be unusable. */
export const MOST_INVALID = 3
export const MOST_APPROVALS_OF_JOB = 16
export const MOST_APPROVALS = 200
/**
 * The last places for approvals are kept for askers who have few, so that one caller, rule or
 * channel cannot silence the others.
 */
const KEPT_APPROVALS = 50
const FEW_APPROVALS = 10
export const MOST_OPEN_JOBS = 500
/**
 * With this many open jobs, schedules, webhook rules and strangers begin no more: the last places
 * are for members who have few.
 */
export const MOST_OPEN_JOBS_OF_OTHERS = 400
const FEW_OPEN_JOBS = 20
export const MOST_OPEN_JOBS_OF_CONVERSATION = 20
/**
 * Commands that people type have places of their own, next to the jobs of models, and in a
 * conversation as many as those.
 */
const MOST_OPEN_COMMANDS = 100
/** How many reads run at once. */
export const MOST_READS = 8
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
  const kept = Math.min(MOST_APPROVALS - all, FEW_APPROVALS - theirs)
  return Math.min(
    Math.max(MOST_APPROVALS - KEPT_APPROVALS - all, kept),
    MOST_APPROVALS_OF_JOB - ours,
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
  { typed, most = MOST_OPEN_JOBS }: { typed: boolean; most?: number },
): boolean => {
  if (typed) return our_typed < MOST_OPEN_JOBS_OF_CONVERSATION && all_typed < MOST_OPEN_COMMANDS
  const room = their_jobs < FEW_OPEN_JOBS ? most : MOST_OPEN_JOBS_OF_OTHERS
  return our_jobs - our_typed < MOST_OPEN_JOBS_OF_CONVERSATION && all_jobs < room
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
