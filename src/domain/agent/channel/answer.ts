/** What a job tells the channel whose message began it. Pure. */
import type { Message } from '../conversation.ts'
import type { Job } from '../job/job.ts'
import { COPIED } from '../job/taint.ts'
import type { Channel } from './channel.ts'
import { isAnswerHeld, isForStranger, NOT_NOW } from './trust.ts'

/** The message that began a job, and where its answer goes. */
export interface ChannelOrigin {
  message_id: string
  sender: string
  sender_name: string | null
  reply_to: Record<string, unknown>
  /** Where only the sender reads; null if there is no such place. */
  direct_to: Record<string, unknown> | null
  /** Whether others read along where the message was written. */
  is_shared: boolean
  conversation_id: string | null
  connection_id: string
  channel: Channel
  config: Record<string, unknown>
  /** Whether the last answer in the conversation may not have arrived. */
  is_in_doubt: boolean
}

/** The sender, as people read it. */
export const recipientOf = ({
  sender,
  sender_name,
}: Pick<ChannelOrigin, 'sender' | 'sender_name'>): string =>
  sender_name === null || sender_name === sender ? sender : `${sender_name} (${sender})`

interface Told {
  replyTo: Record<string, unknown>
  text: string
  /** Why a person must first decide whether it goes out; null if it goes out at once. */
  held: string | null
}

const FOR_STRANGERS =
  'It answers somebody outside the workspace, and config.reply of the channel is not auto.'

/** Also why an older reply waits. */
export const FOR_COPIES = 'A copy of this deployment, or its original, may have answered already.'

/** The taint names every source that the job has read. */
const forOthers = (taint: readonly string[]): string =>
  `Others read along where it would go, and there is no way to answer the sender alone. The job has read words of others: ${taint.join(', ')}.`

/**
 * Where a job's text goes. A member's job may have read private records of the workspace, and text
 * of outsiders that tries to get them told. Its text then goes to the member alone, not to a thread
 * where others read. If there is no such place, a person decides first.
 */
export const toldOf = (
  { on_behalf, taint }: Pick<Job, 'on_behalf' | 'taint'>,
  {
    reply_to,
    direct_to,
    is_shared,
    config,
  }: Pick<ChannelOrigin, 'reply_to' | 'direct_to' | 'is_shared' | 'config'>,
  text: string,
): Told => {
  const there = { replyTo: reply_to, text }
  if (isAnswerHeld(on_behalf, config)) return { ...there, held: FOR_STRANGERS }
  if (taint.includes(COPIED) && text.trim() !== '') return { ...there, held: FOR_COPIES }
  const isOpen = !is_shared || taint.length === 0 || isForStranger(on_behalf)
  if (isOpen || text.trim() === '') return { ...there, held: null }
  if (direct_to === null) return { ...there, held: forOthers(taint) }
  return { replyTo: direct_to, text: `${TOLD_ALONE}\n\n${text}`, held: null }
}

const IN_DOUBT =
  'I do not know whether all of my last answer reached you. If something is missing, ask again.'

/** Tells the asker that an earlier answer may not have arrived, before the next answer. */
export const afterDoubt = (
  text: string,
  { is_in_doubt }: Pick<ChannelOrigin, 'is_in_doubt'>,
): string => (is_in_doubt && text.trim() !== '' ? `${IN_DOUBT}\n\n${text}` : text)

const TOLD_ALONE =
  'You asked where others can read. For this I read text from people outside the workspace, or from members who may do less than you, so I answer only you.'

/**
 * What people are told when a job ends. Only members are told why it failed, because the reason may
 * reveal something about the workspace.
 */
export const endText = (
  { status, on_behalf }: Pick<Job, 'status' | 'on_behalf'>,
  said: readonly Pick<Message, 'content'>[],
): string => {
  if (status !== 'completed' && isForStranger(on_behalf)) return ''
  return said.map(({ content }) => content).join('\n\n')
}

/**
 * What people are told while the job waits for billing. Strangers do not learn what the workspace
 * owes.
 */
export const heldText = ({ on_behalf }: Pick<Job, 'on_behalf'>, notice: string): string =>
  isForStranger(on_behalf) ? NOT_NOW : notice

/** What people are told after somebody cancelled the job in the app. */
export const cancelledText = ({ on_behalf }: Pick<Job, 'on_behalf'>): string =>
  isForStranger(on_behalf) ? '' : 'This was cancelled in the app.'

/** An approval that a job asks people for. */
export interface AwaitedApproval {
  summary: string
  url: string
  /** Who can decide it if the asker cannot. */
  others?: string | undefined
}

/** Tells a member what waits and where to decide it: a reply in the channel decides nothing. */
export const waitingText = (
  { on_behalf }: Pick<Job, 'on_behalf'>,
  asked: readonly AwaitedApproval[],
): string => {
  if (asked.length === 0 || isForStranger(on_behalf)) return ''
  const [own, others] = [
    asked.filter((one) => one.others === undefined),
    asked.filter((one) => one.others !== undefined),
  ]
  return [
    ...(own.length === 0
      ? []
      : [`This needs a decision before I go on:\n\n${linesOf(own)}\n\nOpen the link to decide.`]),
    ...(others.length === 0
      ? []
      : [
          `This needs a decision before I go on, which somebody else must take:\n\n${linesOf(others)}`,
        ]),
  ].join('\n\n')
}

const linesOf = (asked: readonly AwaitedApproval[]): string =>
  asked
    .map(({ summary, url, others }) => {
      const who = others === undefined ? '' : `\n  Here ${others}.`
      return `- ${summary.replace(/\s+/g, ' ').trim()}\n  ${url}${who}`
    })
    .join('\n')

/** For a member who may decide what a job of somebody else asks. */
export const toApproverText = (asked: readonly AwaitedApproval[]): string =>
  `This waits for a decision:\n\n${linesOf(asked)}\n\nOpen the link to decide. An answer here decides nothing.`
