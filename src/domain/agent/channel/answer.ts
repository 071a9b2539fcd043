/** What a job that a message of a channel has begun says there. Pure. */
import type { Message } from '../conversation.ts'
import type { Job } from '../job/job.ts'
import type { Channel } from './channel.ts'
import { isAnswerHeld, isForStranger, NOT_NOW } from './trust.ts'

/** The message that began a job, and where its answer goes. */
export interface ChannelOrigin {
  message_id: string
  sender: string
  sender_name: string | null
  reply_to: Record<string, unknown>
  /** Where the sender alone reads; null: nowhere. */
  direct_to: Record<string, unknown> | null
  /** Whether others read where it was written. */
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
  /** Why a person decides first whether it goes out; null: it goes at once. */
  held: string | null
}

const FOR_STRANGERS =
  'It answers somebody outside the workspace, and config.reply of the channel is not auto.'

/** Taint names every source that the job has read. */
const forOthers = (taint: readonly string[]): string =>
  `Others read along where it would go, and there is no way to answer the sender alone. The job has read words of others: ${taint.join(', ')}.`

/**
 * Where a job tells something. A member's job may have read what is the workspace's own, and text
 * of people outside, which may want it told: then the member alone is told, and not a thread where
 * others read. Where there is no such place, a person decides first.
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
  const isOpen = !is_shared || taint.length === 0 || isForStranger(on_behalf)
  if (isOpen || text.trim() === '') return { ...there, held: null }
  if (direct_to === null) return { ...there, held: forOthers(taint) }
  return { replyTo: direct_to, text: `${TOLD_ALONE}\n\n${text}`, held: null }
}

const IN_DOUBT =
  'I do not know whether all of my last answer reached you. If something is missing, ask again.'

/** The asker is told of an answer that may not have arrived, before the next one. */
export const afterDoubt = (
  text: string,
  { is_in_doubt }: Pick<ChannelOrigin, 'is_in_doubt'>,
): string => (is_in_doubt && text.trim() !== '' ? `${IN_DOUBT}\n\n${text}` : text)

const TOLD_ALONE =
  'You asked where others can read. For this I read text from people outside the workspace, or from members who may do less than you, so I answer only you.'

/**
 * What is told of the end of a job. Of a failure only members are told: it may say something of the
 * workspace.
 */
export const endText = (
  { status, on_behalf }: Pick<Job, 'status' | 'on_behalf'>,
  said: readonly Pick<Message, 'content'>[],
): string => {
  if (status !== 'completed' && isForStranger(on_behalf)) return ''
  return said.map(({ content }) => content).join('\n\n')
}

/** The job waits for billing. What the workspace owes is no stranger's business. */
export const heldText = ({ on_behalf }: Pick<Job, 'on_behalf'>, notice: string): string =>
  isForStranger(on_behalf) ? NOT_NOW : notice

/** Somebody has cancelled the job in the app. */
export const cancelledText = ({ on_behalf }: Pick<Job, 'on_behalf'>): string =>
  isForStranger(on_behalf) ? '' : 'This was cancelled in the app.'

/** What a job asks of people. */
export interface AwaitedApproval {
  summary: string
  url: string
  /** Who can decide it, if the asker cannot. */
  others?: string | undefined
}

/** A member is told what waits, and where to decide: a reply in the channel decides nothing. */
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

/** For a member who may decide what somebody else has asked for. */
export const toApproverText = (asked: readonly AwaitedApproval[]): string =>
  `This waits for a decision:\n\n${linesOf(asked)}\n\nOpen the link to decide. An answer here decides nothing.`
