/**
 * A conversation with the agent: active ⇄ archived, and both can be deleted. It holds only finished
 * messages; each message of a person starts a job.
 */
import { conversationRecord, messageRecord } from '#contract/records/agent/conversation'
import type { RowOf } from '#contract/records/record'
import { fail } from '#kernel/errors'
import type { Role } from '#kernel/roles'

/** The reader. A key without a person sees what the whole workspace sees. */
export interface Reader {
  personId: string | null
}

export type Conversation = RowOf<typeof conversationRecord>
export type Visibility = Conversation['visibility']
export type Message = RowOf<typeof messageRecord>

type NewConversation = Pick<Conversation, 'title' | 'person_id'> &
  Partial<Pick<Conversation, 'origin' | 'visibility'>> & { now: Date }

export const newConversation = (
  id: string,
  { title, person_id, origin = 'app', visibility = 'workspace', now }: NewConversation,
): Conversation => ({
  ...conversationRecord.blank,
  id,
  title: title === null ? null : title.trim(),
  status: 'active',
  origin,
  person_id,
  visibility,
  people: [],
  summarised_to: 0,
  next_seq: 1,
  last_at: now,
  created_at: now,
  updated_at: now,
})

interface Changes {
  title?: string
  status?: Conversation['status']
  visibility?: Visibility
}

export const updateConversation = (
  before: Conversation,
  { title, status = before.status, visibility = before.visibility }: Changes,
  now: Date,
): Conversation => ({
  ...before,
  title: title === undefined ? before.title : title.trim(),
  status,
  visibility,
  updated_at: now,
})

/** In characters. */
const TITLE_LENGTH = 60

/** The first words of a text, on one line. */
export const titleOf = (text: string): string =>
  [...text.trim().replace(/\s+/g, ' ')].slice(0, TITLE_LENGTH).join('').trim()

type NewMessage = Pick<Message, 'id' | 'role' | 'content' | 'author'> & Partial<Message>

/** Adds a message. A conversation without a title is named after the first message of a person. */
export const withMessage = (
  before: Conversation,
  message: NewMessage,
  now: Date,
): { conversation: Conversation; message: Message } => ({
  conversation: {
    ...before,
    title: before.title ?? (message.role === 'user' ? titleOf(message.content) : null),
    next_seq: before.next_seq + 1,
    last_at: now,
    updated_at: now,
  },
  message: {
    ...messageRecord.blank,
    untrusted: false,
    tools_used: [],
    ...message,
    conversation_id: before.id,
    seq: before.next_seq,
    created_at: now,
    updated_at: now,
  },
})

/** The person or key that writes, or changes the conversation itself. */
interface Member {
  role: Role
  personId: string | null
}

const isStarter = ({ person_id }: Pick<Conversation, 'person_id'>, { personId }: Member): boolean =>
  person_id !== null && person_id === personId

/**
 * Throws `forbidden` for a viewer in a conversation that somebody else began: the next job reads
 * everything in the conversation, and a viewer may do less than most.
 */
export const requireMayWrite = (
  conversation: Pick<Conversation, 'person_id'>,
  by: Member,
): void => {
  if (by.role === 'viewer' && !isStarter(conversation, by))
    fail('forbidden', 'a viewer can write only in conversations of their own; begin one')
}

/** Throws `forbidden` for a viewer who did not begin the conversation. */
export const requireMayChange = (
  conversation: Pick<Conversation, 'person_id'>,
  by: Member,
): void => {
  if (by.role === 'viewer' && !isStarter(conversation, by))
    fail('forbidden', 'a viewer can rename and archive only conversations of their own')
}

/** Throws `forbidden` for anybody but the starter and owners. */
export const requireMayRemove = (
  conversation: Pick<Conversation, 'person_id'>,
  by: Member,
): void => {
  if (by.role !== 'owner' && !isStarter(conversation, by))
    fail('forbidden', 'only the person who began the conversation and owners can delete it')
}

/** Throws `forbidden`: only the starter decides who sees a conversation. */
export const requireStarter = (conversation: Pick<Conversation, 'person_id'>, by: Member): void => {
  if (!isStarter(conversation, by))
    fail('forbidden', 'only the person who began the conversation decides who sees it')
}

/** Throws `forbidden` if anybody else changes who sees it. */
export const requireMayShow = (
  conversation: Pick<Conversation, 'person_id' | 'visibility'>,
  { visibility = conversation.visibility }: { visibility?: Visibility },
  by: Member,
): void => {
  if (visibility !== conversation.visibility) requireStarter(conversation, by)
}

/** Authors in a conversation who would no longer see it. */
export interface LeftOut {
  /** Whether it is a thread of a channel that others read too. */
  is_shared: boolean
  /** The names of members, only the first few. */
  names: string[]
  /** Whether a key of the workspace is among them: keys see no private conversation. */
  has_key: boolean
}

/**
 * Throws `conflict`: nobody loses access to what they wrote because somebody else began the
 * conversation.
 */
export const requireNobodyLeftOut = ({ is_shared, names, has_key }: LeftOut): void => {
  if (is_shared)
    fail(
      'conflict',
      'cannot make it private: it belongs to a thread of a channel, in which others read and write',
      { reason: 'others_involved' },
    )
  if (names.length > 0)
    fail(
      'conflict',
      `cannot make it private: ${names.join(', ')} wrote in it and could no longer see it; first add everybody who wrote in it`,
      { reason: 'others_involved' },
    )
  if (has_key)
    fail(
      'conflict',
      'cannot make it private: a key of the workspace wrote in it, and could no longer see it',
      { reason: 'others_involved' },
    )
}

/** Throws `forbidden`: a key of the workspace would not see the conversation that it begins. */
export const requirePerson = ({ personId }: Reader): void => {
  if (personId === null)
    fail(
      'forbidden',
      'only a person can begin a private conversation, because a key of the workspace sees none',
    )
}

/** People who can be added to one conversation. */
const MOST_PEOPLE = 100

/**
 * Adds a person who sees it too. Returns the same conversation if they already do. Throws
 * `conflict` if there are too many.
 */
export const withPerson = (before: Conversation, personId: string, now: Date): Conversation => {
  if (before.person_id === personId || before.people.includes(personId)) return before
  if (before.people.length >= MOST_PEOPLE)
    fail('conflict', `cannot add: the conversation has ${MOST_PEOPLE} people, which is the most`, {
      reason: 'limit_reached',
    })
  return { ...before, people: [...before.people, personId], updated_at: now }
}

/** Removes that person. Returns the same conversation if they were not added. */
export const withoutPerson = (before: Conversation, personId: string, now: Date): Conversation =>
  before.people.includes(personId)
    ? { ...before, people: before.people.filter((id) => id !== personId), updated_at: now }
    : before

type Sight = Pick<Conversation, 'visibility' | 'person_id' | 'people'>

/**
 * Whose sight of the conversation a change gives or takes away: these people's, or everybody's but
 * theirs. Undefined: nobody's.
 */
export const sightChanged = (
  before: Sight,
  after: Sight,
): { people: string[]; isAllBut: boolean } | undefined => {
  if (before.visibility !== after.visibility) {
    const kept = after.people.filter((id) => before.people.includes(id))
    return {
      people: after.person_id === null ? kept : [after.person_id, ...kept],
      isAllBut: true,
    }
  }
  if (after.visibility === 'workspace') return undefined
  const people = [
    ...before.people.filter((id) => !after.people.includes(id)),
    ...after.people.filter((id) => !before.people.includes(id)),
  ].filter((id) => id !== after.person_id)
  return people.length > 0 ? { people, isAllBut: false } : undefined
}

/** Throws `conflict` unless the conversation takes messages from people. */
export const requireActiveConversation = ({ status }: Pick<Conversation, 'status'>): void => {
  if (status !== 'active')
    fail('conflict', `cannot send: the conversation is ${status}; make it active first`, {
      reason: 'wrong_state',
    })
}
