/** The arguments that a person gives instead of those that they were asked about. */
import type { ToolBox } from '#decisions/agent/toolbox'
import { argumentsHash } from '#domain/agent/hash'
import { type Approval, EDITED, isSameSubject, shownSummary } from '#domain/agent/job/approval'
import { mayAsMuch } from '#domain/agent/job/authors'
import { HandleBook, type Handles } from '#domain/agent/job/handles'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { LESSER, unseenArgument, unseenIn } from '#domain/agent/job/verdict'
import { AppError, fail } from '#kernel/errors'
import { callerNow } from '#store/agent/callers'
import { lastDeedOn } from '#store/app/audit'
import { loadNow } from '#store/engine/load'
import { roleOf } from '#store/engine/principal'
import type { CommandContext } from '../../engine/call.ts'

type Arguments = Record<string, unknown>

interface Given {
  given: Arguments
  /** The handles of the conversation. */
  handles: Handles
  job: Job | undefined
}

/**
 * The arguments that a person gives instead. They may contain ids, or handles of the conversation.
 * Throws `invalid_input`, naming the place.
 */
export const checkedBy = (
  tools: ToolBox,
  { tool_name, arguments_hash }: Approval,
  { given, handles, job }: Given,
): Arguments => {
  try {
    const changes = tools.checked(
      tool_name,
      new HandleBook(handles).resolve(given, JSON.stringify(given)),
    )
    if (job && argumentsHash(changes) !== arguments_hash) requireSeen(changes, job)
    return changes
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    if (cause.code === 'not_found')
      fail('invalid_input', `arguments: ${cause.detail}`, {
        details: [{ path: 'arguments', message: cause.detail }],
      })
    if (cause.code !== 'invalid_input') throw cause
    const details = (cause.details ?? []).map(({ path, message }) => ({
      path: path ? `arguments.${path}` : 'arguments',
      message,
    }))
    return fail('invalid_input', `arguments: ${cause.detail}`, { details })
  }
}

/** Throws `invalid_input`, naming the place of characters that nobody would see. */
const requireSeen = (changes: Arguments, job: Job): void => {
  const flaw = unseenArgument(changes, job)
  if (flaw) fail('invalid_input', `${flaw.path} ${flaw.message}`, { details: [flaw] })
}

/**
 * The same for a decider who may not do everything that the job's caller may: their words are
 * treated like those of outsiders.
 */
export const requireSeenByMost = async (
  changes: Arguments,
  job: Job | undefined,
  { principal, sql }: CommandContext,
): Promise<void> => {
  const flaw = unseenIn(changes, LESSER)
  if (!flaw || !job) return
  const { now } = await loadNow(sql, { now: callerNow(job.on_behalf) })
  if (!now || mayAsMuch({ role: roleOf(principal), scopes: null, gone: false }, now)) return
  const { path, message } = flaw
  fail('invalid_input', `arguments: ${path} ${message}`, {
    details: [{ path: `arguments.${path}`, message }],
  })
}

/**
 * The approval of arguments other than those asked about, bound to the records that they name.
 * Undefined if the arguments are the same.
 */
export const editedBy = async (
  tools: ToolBox,
  approved: Approval,
  args: Arguments,
  { sql }: CommandContext,
): Promise<Approval | undefined> => {
  const arguments_hash = argumentsHash(args)
  if (arguments_hash === approved.arguments_hash) return undefined
  const said = { ...(await tools.subject(approved.tool_name, args, sql)), arguments: args }
  return { ...approved, ...said, summary: shownSummary(said), arguments_hash, edited: true }
}

/**
 * What becomes of a step with a person's arguments, which the model is shown by the names that
 * records have in the conversation. `names`: those that they get now.
 */
export const editedStep = (
  { arguments: args, arguments_hash: args_hash }: Approval,
  why: readonly string[],
  handles: Handles,
): { going: Partial<Step>; names: Handles } => {
  const book = new HandleBook(handles)
  const asked = JSON.stringify(book.shorten(args))
  return { going: { args, args_hash, asked, why: [...why, EDITED] }, names: book.added }
}

/**
 * Throws `conflict` if a record that the call is about has changed since it was shown, naming who
 * did something to it last.
 */
export const requireFresh = async (
  tools: ToolBox,
  { tool_name, arguments: args, subject, created_at }: Approval,
  { sql }: CommandContext,
): Promise<void> => {
  const now = await subjectNow(tools, { tool_name, args }, sql)
  if (now && isSameSubject(now, subject)) return
  const [record] = subject.records
  const { deed } = record
    ? await loadNow(sql, { deed: lastDeedOn(record.id, created_at) })
    : { deed: undefined }
  fail(
    'conflict',
    'cannot approve: what the call is about has changed since it was shown; reject it, and the agent can ask again',
    { reason: 'stale_call', ...(deed && { by: deed.by, at: deed.at }) },
  )
}

/** Undefined: a record of it is gone. */
const subjectNow = async (
  tools: ToolBox,
  { tool_name, args }: { tool_name: string; args: Arguments },
  sql: CommandContext['sql'],
) => {
  try {
    return (await tools.subject(tool_name, args, sql)).subject
  } catch (cause) {
    if (cause instanceof AppError && cause.code === 'not_found') return undefined
    throw cause
  }
}

/**
 * Throws `conflict` if the call was approved with arguments other than these. Without new
 * arguments, they are compared with those that this person saw.
 */
export const requireSame = (
  approval: Approval,
  changes: Arguments | undefined,
  by: string,
): void => {
  const isOther = changes
    ? argumentsHash(changes) !== approval.arguments_hash
    : approval.edited && approval.decided_by !== by
  if (isOther)
    fail('conflict', 'cannot approve: the call was already approved with other arguments', {
      reason: 'stale_call',
    })
}
