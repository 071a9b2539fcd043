/**
 * Clients that change their mind within 50 ms of a post being due: they edit or reopen it, and some
 * approve another text in its place.
 */
import { createHash } from 'node:crypto'
import { inMs, type Story, textOf } from '#test/support/growth/story'
import { asked, type Clients, type Command, persist, postNow } from './clients.ts'

/** What people have said of each text. A text of an item is written once. */
export interface Words {
  /** Somebody approved it, and nobody has taken that back. */
  approved: Set<string>
  /** Its approval was taken back, and the answer said so. */
  withdrawn: Set<string>
  /** It was too late: the answer said that the post was on its way, or more. */
  tooLate: number
}

export const noWords = (): Words => ({ approved: new Set(), withdrawn: new Set(), tooLate: 0 })

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const AROUND_MS = 50
/** From now to the time at which it is due: long enough for the answer to the schedule. */
const DUE = { fromMs: 400, spanMs: 1_200 }
const MAX_TIMES = 5

/** Schedules the item; gives its time, or undefined if it was not scheduled. */
const scheduled = async (
  clients: Clients,
  command: Pick<Command, 'story' | 'id'>,
): Promise<number | undefined> => {
  for (let round = 0; round < MAX_TIMES; round++) {
    const dueAt = Date.now() + DUE.fromMs + clients.next() * DUE.spanMs
    const body = { post_at: inMs(dueAt - Date.now()) }
    const outcome = await persist(clients, { ...command, action: 'schedule', body, round })
    if (outcome !== 'too late') return dueAt
  }
  clients.wrong.push(`schedule ${command.id}: too late ${MAX_TIMES} times`)
  return undefined
}

/**
 * Waits for the moment, and takes the text back by an edit or by opening the item again. Returns
 * whether the answer says that it worked.
 */
const withdraw = async (
  clients: Clients,
  { story, id, dueAt, text }: { story: Story; id: string; dueAt: number; text: string },
) => {
  const at = dueAt + (2 * clients.next() - 1) * AROUND_MS
  await Bun.sleep(Math.max(0, at - Date.now()))
  const command: Command =
    clients.next() < 0.5
      ? { story, id, action: 'edit', body: { body: text } }
      : { story, id, action: 'reopen' }
  const reply = await asked(clients, command)
  if (reply?.status !== 200) return undefined
  return command.action
}

/**
 * Approves and schedules an item, takes it back when it is due, and approves the new text of every
 * second one.
 */
export const changeOnesMind = async (
  clients: Clients,
  words: Words,
  story: Story,
  id: string,
): Promise<void> => {
  const [first, second] = [textOf(id), `${textOf(id)}, written anew`]
  words.approved.add(first)
  await persist(clients, { story, id, action: 'approve' })
  const dueAt = await scheduled(clients, { story, id })
  if (dueAt === undefined) return
  const by = await withdraw(clients, { story, id, dueAt, text: second })
  if (by === undefined) {
    words.tooLate++
    return
  }
  words.approved.delete(first)
  words.withdrawn.add(first)
  if (clients.next() < 0.5) return
  if (by === 'reopen') await asked(clients, { story, id, action: 'edit', body: { body: second } })
  words.approved.add(second)
  // If the edit had no answer, the hash keeps the former text from being approved in its place.
  await persist(clients, {
    story,
    id,
    action: 'approve',
    body: { expect_hash: hashOf(second) },
    round: 1,
  })
  await postNow(clients, { story, id })
}

/** Posts of a text that nobody approved, or whose approval was taken back. */
export const unapproved = async (
  { owner }: Pick<Clients, 'owner'>,
  { approved }: Words,
  posts: string,
): Promise<number> => {
  const made = await owner<{ text: string }[]>`select text from ${owner(posts)}`
  return made.filter(({ text }) => !approved.has(text)).length
}
