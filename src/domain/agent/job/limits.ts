/** The bounds of a job. Those that depend on the plan are in budget.ts. */

/** Calls of one answer of the model that are made. */
export const MOST_CALLS = 16
/**
 * Calls of one answer that are read: those that are not made are refused, and further ones are
 * counted.
 */
export const MOST_READ_CALLS = 64
/** Rounds in a row without anything new that a job makes. Then it must conclude. */
export const MOST_IDLE_ROUNDS = 3
/**
 * Rounds in a row that only read, each with other arguments, and got what the same tools had given
 * before. Then it must conclude, too.
 */
export const MOST_VAIN_ROUNDS = 8
/**
 * Calls of the model in a job, whatever its plan allows: with the calls of each answer, a letter
 * still reads all steps.
 */
export const MOST_THOUGHTS = 100
/** Time spent in steps, model calls and tools together. Waiting does not count. */
export const MOST_ACTIVE_MS = 15 * 60_000
/** Answers in a row that could not be used. */
export const MOST_INVALID = 3
export const MOST_APPROVALS_OF_JOB = 16
export const MOST_APPROVALS = 200
/**
 * The last places for approvals are for whoever has asked for few: what one caller, rule or channel
 * asks must not silence the others.
 */
const KEPT_APPROVALS = 50
const FEW_APPROVALS = 10
export const MOST_OPEN_JOBS = 500
/**
 * Above so many, no schedule, webhook rule or stranger begins another: the last places are for
 * members who have few.
 */
export const MOST_OPEN_JOBS_OF_OTHERS = 400
const FEW_OPEN_JOBS = 20
export const MOST_OPEN_JOBS_OF_CONVERSATION = 20
/**
 * Commands that people have typed have room of their own, beside the jobs of models; in a
 * conversation as much as those.
 */
const MOST_OPEN_COMMANDS = 100
/** Reads that run together. */
export const MOST_READS = 8
export const APPROVAL_MS = 24 * 3_600_000
/**
 * A statement of a tool that is decided in a letter. The letter holds up its workspace's mailbox
 * meanwhile.
 */
export const TOOL_STATEMENT_MS = 1_000
/** A generation that takes longer is shown as it stands. */
export const GENERATION_WAIT_MS = 170_000
/** How long a job waits behind another of its conversation before it looks for itself. */
export const BEHIND_MS = 60_000

/**
 * By how much commands that people type are due before anything else that is due now: the kill
 * switch waits for no burst of jobs.
 */
const AHEAD_MS = 3_600_000

/** When the work of a job is due that can go on now. */
export const dueNow = ({ typed }: { typed: boolean }, now: Date): Date =>
  typed ? new Date(now.getTime() - AHEAD_MS) : now

/** Between two looks at a record that a step waits for. */
const FIRST_POLL_MS = 300
const LONGEST_POLL_MS = 30_000

/**
 * Calls that wait for a person: of the workspace, of a job, and of all that were asked for in the
 * same way as it.
 */
export interface OpenApprovals {
  all: number
  ours: number
  theirs: number
}

/** How many more a job may ask about. */
export const roomForApprovals = ({ all, ours, theirs }: OpenApprovals): number => {
  const kept = Math.min(MOST_APPROVALS - all, FEW_APPROVALS - theirs)
  return Math.min(
    Math.max(MOST_APPROVALS - KEPT_APPROVALS - all, kept),
    MOST_APPROVALS_OF_JOB - ours,
  )
}

/**
 * Jobs that are not over: of the workspace, of a conversation, of whoever asks, and how many of
 * them are typed commands.
 */
export interface OpenJobs {
  all_jobs: number
  our_jobs: number
  their_jobs: number
  all_typed: number
  our_typed: number
}

/** Whether one more may begin. */
export const hasRoomForJob = (
  { all_jobs, our_jobs, their_jobs, all_typed, our_typed }: OpenJobs,
  { typed, most = MOST_OPEN_JOBS }: { typed: boolean; most?: number },
): boolean => {
  if (typed) return our_typed < MOST_OPEN_JOBS_OF_CONVERSATION && all_typed < MOST_OPEN_COMMANDS
  const room = their_jobs < FEW_OPEN_JOBS ? most : MOST_OPEN_JOBS_OF_OTHERS
  return our_jobs - our_typed < MOST_OPEN_JOBS_OF_CONVERSATION && all_jobs < room
}

/**
 * When to look again at a record that a step has waited for since `since`: each pause is half of
 * the time waited so far.
 */
export const nextPoll = (since: Date, now: Date): Date => {
  // A clock that has gone back must not make it look all the time.
  const waited = Math.abs(now.getTime() - since.getTime())
  return new Date(now.getTime() + Math.min(LONGEST_POLL_MS, Math.max(FIRST_POLL_MS, waited / 2)))
}
