/**
 * What a message of a channel may begin. A linked sender acts as the member it is linked to.
 * Anybody else is a stranger, whose job sees only what the workspace shows to everybody: no job
 * ever combines private data, text of outsiders and an unattended way out. Pure.
 */
import { createHash } from 'node:crypto'
import type { Role } from '#kernel/roles'
import type { OnBehalf } from '../job/job.ts'
import { type Channel, type ChannelConnection, channelTraits } from './channel.ts'

/**
 * All tools that a stranger's job can call. Each shows strangers less than others: only pinned
 * playbooks, and only public documents.
 */
export const STRANGERS_TOOLS: readonly string[] = [
  ...['get_current_time', 'list_playbooks', 'read_playbook', 'search_documents', 'read_document'],
]

/** The sender of a message, as the provider names it. */
export interface Sender {
  id: string
  /** Undefined if the sender is not linked. */
  identity: { id: string; person_id: string; role?: Role } | undefined
}

/** In whose name a message's job runs. `tools`: null for all tools of that person. */
export interface Trusted {
  kind: 'member' | 'stranger'
  on_behalf: OnBehalf
  tools: string[] | null
  taint: string[]
  /** Whether the message is marked as text of outsiders. */
  untrusted: boolean
  /** A viewer, who writes only into their own conversations. */
  readsOnly?: true
}

/** `none`: no job begins. */
export type Trust = Trusted | { kind: 'none' }

/** The taint of a job that was begun by text from a channel. */
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
  /** As the adapter spells it. */
  thread: string
  isShared: boolean
}

/**
 * Names the conversation of a message within its connection, as `agent_conversation.thread` keeps
 * it. Linked people share the conversation of a thread if the provider vouches for its senders.
 * Elsewhere each has their own, and viewers always do. A stranger never gets a member's
 * conversation, whatever the names are.
 */
export const conversationKey = ({ trust, sender, thread, isShared }: Said): string => {
  if (trust.kind === 'stranger') return `${STRANGERS}${hashNames(sender, thread)}`
  return isShared && !trust.readsOnly
    ? `${SHARED}${hashNames(thread)}`
    : `member:${hashNames(trust.on_behalf.personId!, sender, thread)}`
}

/**
 * The prefix of strangers' conversations. Nobody else may write in one, because the stranger's next
 * job sees everything in it.
 */
export const STRANGERS = 'stranger:'
export const isStrangersThread = (thread: string | null): boolean =>
  thread?.startsWith(STRANGERS) ?? false

/** The prefix of conversations in which others read along. */
export const SHARED = 'shared:'
export const isSharedThread = (thread: string | null): boolean =>
  thread?.startsWith(SHARED) ?? false

/**
 * Two hashes are equal only for equal names in the same order, whatever senders call themselves.
 * All hashes have one length.
 */
const hashNames = (...names: string[]): string =>
  createHash('sha256').update(JSON.stringify(names)).digest('hex')

export const dailyJobLimits = {
  /** Jobs that one stranger can begin within a day. */
  ofStranger: 30,
  /**
   * Jobs that messages in the name of one linked sender can begin within a day, where names can be
   * forged.
   */
  ofMember: 100,
} as const
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

/** Whether a stranger's message may begin another job. */
export const hasRoomFor = (
  { ofSender, ofConnection }: StrangersJobs,
  config: Readonly<Record<string, unknown>>,
): boolean => {
  const { dailyJobs } = config
  const most =
    typeof dailyJobs === 'number' && Number.isInteger(dailyJobs) && dailyJobs >= 0
      ? dailyJobs
      : USUAL_DAILY_JOBS
  return ofSender < dailyJobLimits.ofStranger && ofConnection < most
}

/**
 * Whether a message in a member's name may begin another job. `ofSender`: the jobs that its sender
 * has begun within a day.
 */
export const hasRoomForMember = (
  { channel }: Pick<ChannelConnection, 'channel'>,
  ofSender: number,
): boolean => !channelTraits[channel].isForgeable || ofSender < dailyJobLimits.ofMember

/** Whether an answer waits for a person before it goes out. */
export const isAnswerHeld = (by: OnBehalf, config: Readonly<Record<string, unknown>>): boolean =>
  isForStranger(by) && config.reply !== 'auto'

type Open = Pick<ChannelConnection, 'sender_policy' | 'config'>

const answersUnread = ({ sender_policy, config }: Open): boolean =>
  sender_policy === 'anyone' && config.reply === 'auto'

/**
 * What a change allows outsiders from then on. `unread`: they get answers, or can get them, that
 * nobody in the workspace has read.
 */
export const openedBy = (before: Open, after: Open): { toAnyone: boolean; unread: boolean } => ({
  toAnyone: before.sender_policy !== 'anyone' && after.sender_policy === 'anyone',
  unread:
    (before.config.reply !== 'auto' && after.config.reply === 'auto') ||
    (!answersUnread(before) && answersUnread(after)),
})

/** The state that a new connection is compared with. */
export const CLOSED: Open = { sender_policy: 'members', config: {} }

/**
 * How many strangers of a connection are told so within a day. Senders can be forged without limit,
 * and each message would reach a victim.
 */
export const MOST_TOLD = 50
/** For a stranger where only members are served; sent at most once a day. */
export const MEMBERS_ONLY =
  'I can only talk to members of the workspace. If you are one, ask in the app for a code that links you, and send it here.'

/** For a member who has used up the day's jobs; sent at most once a day. */
export const USED_UP = `You have used up today's messages: I answer at most ${dailyJobLimits.ofMember} a day here. You can go on in the app.`

/** For a member whose message no model may answer; sent at most once a day. */
export const unpaidText = (why: string): string =>
  `I cannot answer: the workspace's billing is not in order (${why}). Whoever runs this deployment can fix that. Commands such as /items list still work.`

/** For a stranger in the same case; sent at most once a day. */
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

/** What is wrong with values of these names, as a sentence. */
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
