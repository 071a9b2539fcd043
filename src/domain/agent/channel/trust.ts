/**
 * What a message of a channel may begin. A linked sender is the member behind it. Anybody else is a
 * stranger, whose job sees only what the workspace shows to anybody: no job has private data, text
 * of people outside and an unattended way out together. Pure.
 */
import { createHash } from 'node:crypto'
import type { Role } from '#kernel/roles'
import type { OnBehalf } from '../job/job.ts'
import { type Channel, type ChannelConnection, channelTraits } from './channel.ts'

/**
 * All that a stranger's job can call. Each shows a stranger less than others: pinned playbooks, and
 * documents that are public.
 */
export const STRANGERS_TOOLS: readonly string[] = [
  ...['get_current_time', 'list_playbooks', 'read_playbook', 'search_documents', 'read_document'],
]

/** The sender of a message, as the provider names it. */
export interface Sender {
  id: string
  /** Undefined: not linked. */
  identity: { id: string; person_id: string; role?: Role } | undefined
}

/** In whose name a message's job runs. `tools`: null for those of the person. */
export interface Trusted {
  kind: 'member' | 'stranger'
  on_behalf: OnBehalf
  tools: string[] | null
  taint: string[]
  /** Whether the message is marked as text of people outside. */
  untrusted: boolean
  /** A viewer, who writes only into conversations of their own. */
  readsOnly?: true
}

/** `none`: no job begins. */
export type Trust = Trusted | { kind: 'none' }

/** The taint of a job that text from a channel has begun. */
export const channelTaint = (channel: Channel): string => `${CHANNEL_TAINT}${channel}`
export const isChannelTaint = (taint: string): boolean => taint.startsWith(CHANNEL_TAINT)
const CHANNEL_TAINT = 'channel '

export const trustOf = (
  connection: Pick<ChannelConnection, 'id' | 'channel' | 'sender_policy'>,
  { identity }: Sender,
): Trust => {
  const { id, channel, sender_policy } = connection
  if (identity) {
    const untrusted = channelTraits[channel].isForgeable
    const on_behalf: OnBehalf = { kind: 'channel', id: identity.id, personId: identity.person_id }
    const readsOnly = identity.role === 'viewer' ? { readsOnly: true as const } : {}
    return {
      kind: 'member',
      on_behalf,
      tools: null,
      taint: untrusted ? [channelTaint(channel)] : [],
      untrusted,
      ...readsOnly,
    }
  }
  if (sender_policy === 'members') return { kind: 'none' }
  const on_behalf: OnBehalf = { kind: 'channel', id, personId: null }
  return {
    kind: 'stranger',
    on_behalf,
    tools: [...STRANGERS_TOOLS],
    taint: [channelTaint(channel)],
    untrusted: true,
  }
}

/** Whether a job acts for somebody outside the workspace. */
export const isForStranger = ({ kind, personId }: OnBehalf): boolean =>
  kind === 'channel' && personId === null

interface Said {
  trust: Trusted
  sender: string
  /** As the adapter names it. */
  thread: string
  isShared: boolean
}

/**
 * Names the conversation of a message within its connection, as `agent_conversation.thread` keeps
 * it. People who are linked share that of a thread for whose senders the provider vouches;
 * elsewhere, and if they are viewers, each has their own. A stranger never gets one of a member,
 * whatever the names.
 */
export const conversationKey = ({ trust, sender, thread, isShared }: Said): string => {
  if (trust.kind === 'stranger') return `${STRANGERS}${hashed(sender, thread)}`
  return isShared && !trust.readsOnly
    ? `${SHARED}${hashed(thread)}`
    : `member:${hashed(trust.on_behalf.personId!, sender, thread)}`
}

/**
 * Conversations of strangers: nobody else may speak in them, since all that is said in one is what
 * the stranger's next job sees.
 */
export const STRANGERS = 'stranger:'
export const isStrangersThread = (thread: string | null): boolean =>
  thread?.startsWith(STRANGERS) ?? false

/** Whether others read along where an answer goes. */
export const SHARED = 'shared:'
export const isSharedThread = (thread: string | null): boolean =>
  thread?.startsWith(SHARED) ?? false

/**
 * Equal only for equal names in the same order, and of one length, whatever senders call
 * themselves.
 */
const hashed = (...names: string[]): string =>
  createHash('sha256').update(JSON.stringify(names)).digest('hex')

/** Jobs that a stranger can begin within a day. */
export const MOST_OF_STRANGER = 30
/**
 * Jobs that messages in the name of a linked sender can begin within a day, where names can be
 * forged.
 */
export const MOST_OF_MEMBER = 100
/**
 * Jobs that all strangers of a connection can begin within a day, unless `config.dailyJobs` says
 * otherwise.
 */
const USUAL_DAILY_JOBS = 300

/** Jobs that strangers have begun within a day. */
export interface StrangersJobs {
  ofSender: number
  ofConnection: number
}

/** Whether a stranger's message may begin a further job. */
export const hasRoomFor = (
  { ofSender, ofConnection }: StrangersJobs,
  config: Readonly<Record<string, unknown>>,
): boolean => {
  const { dailyJobs } = config
  const most =
    typeof dailyJobs === 'number' && Number.isInteger(dailyJobs) && dailyJobs >= 0
      ? dailyJobs
      : USUAL_DAILY_JOBS
  return ofSender < MOST_OF_STRANGER && ofConnection < most
}

/**
 * Whether a message in a member's name may begin a further job. `ofSender`: those that its sender
 * has begun within a day.
 */
export const hasRoomForMember = (
  { channel }: Pick<ChannelConnection, 'channel'>,
  ofSender: number,
): boolean => !channelTraits[channel].isForgeable || ofSender < MOST_OF_MEMBER

/** Whether an answer waits for a person before it goes out. */
export const isAnswerHeld = (by: OnBehalf, config: Readonly<Record<string, unknown>>): boolean =>
  isForStranger(by) && config.reply !== 'auto'

type Open = Pick<ChannelConnection, 'sender_policy' | 'config'>

const answersUnread = ({ sender_policy, config }: Open): boolean =>
  sender_policy === 'anyone' && config.reply === 'auto'

/**
 * What a change lets people outside do from then on. `unread`: get answers, or be able to, that
 * nobody in the workspace has read.
 */
export const openedBy = (before: Open, after: Open): { toAnyone: boolean; unread: boolean } => ({
  toAnyone: before.sender_policy !== 'anyone' && after.sender_policy === 'anyone',
  unread:
    (before.config.reply !== 'auto' && after.config.reply === 'auto') ||
    (!answersUnread(before) && answersUnread(after)),
})

/** What a new connection opens is compared with this. */
export const CLOSED: Open = { sender_policy: 'members', config: {} }

/**
 * Strangers of a connection that are told so within a day: senders can be forged without number,
 * and each line goes to a victim.
 */
export const MOST_TOLD = 50
/** To a stranger where members alone are served; at most once a day. */
export const MEMBERS_ONLY =
  'I can only talk to members of the workspace. If you are one, ask in the app for a code that links you, and send it here.'

/** To a member who has no room for further jobs; at most once a day. */
export const USED_UP = `You have used up today's messages: I answer at most ${MOST_OF_MEMBER} a day here. You can go on in the app.`

/** To a member whose message no model may answer; at most once a day. */
export const unpaidText = (why: string): string =>
  `I cannot answer: the workspace's billing is not in order (${why}). Whoever runs this deployment can fix that. Commands such as /items list still work.`

/** To a stranger then; at most once a day. */
export const NOT_NOW = 'I cannot answer at the moment. Please try again later.'

/** Names of `config` that mean the same in every channel. */
export const COMMON_CONFIG: Readonly<
  Record<'reply' | 'dailyJobs' | 'approvals', { description: string }>
> = {
  reply: {
    description:
      'auto: answers to people outside the workspace go out at once; only an owner who has signed in can set it. hold, as without it: each waits for a person.',
  },
  dailyJobs: {
    description: `How many messages of people outside the workspace are answered within a day, 0 to 10000. Default ${USUAL_DAILY_JOBS}.`,
  },
  approvals: {
    description:
      'all: members here who may decide are told of every call that waits. asker, as without it: only who asked.',
  },
}

const oneOf = (value: unknown, ...values: string[]): boolean =>
  value === undefined || values.includes(value as string)

/** What is wrong with values of these names, in words. */
export const commonConfigError = ({
  reply,
  dailyJobs,
  approvals,
}: Readonly<Record<string, unknown>>): string | undefined => {
  if (!oneOf(reply, 'auto', 'hold')) return 'config.reply must be auto or hold'
  if (!oneOf(approvals, 'all', 'asker')) return 'config.approvals must be all or asker'
  const isCount =
    typeof dailyJobs === 'number' &&
    Number.isInteger(dailyJobs) &&
    dailyJobs >= 0 &&
    dailyJobs <= 10_000
  return dailyJobs === undefined || isCount
    ? undefined
    : 'config.dailyJobs must be a whole number from 0 to 10000'
}
