/** A message that holds a code links its sender, and begins no job. */
import { codeIn, hashOfCode, LINKED_LINES, linked } from '#domain/agent/channel-identity'
import { newId } from '#kernel/ids'
import { deleteLinkCode, identityOfSender, insertIdentity, memberOfCode } from '#store/agent/channel-identities'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'

interface Sent {
  connectionId: string
  sender: { id: string; name: string | null }
  text: string
  /** Where a message of ours reaches the sender outside of the thread. */
  directTo: Record<string, unknown> | null
  now: Date
}

export interface CodeTaken {
  /** What the sender is told. */
  line: string
  effects: Effects
  /** For the audit. */
  detail: Record<string, unknown>
}

/**
 * Undefined if the message has no code that is valid for the connection: then it is a message like any other, so that nobody learns whether a
 * code that was guessed had existed. A code is used up even if its sender is somebody already.
 */
export const takeCode = async ({ connectionId, sender, text, directTo, now }: Sent, sql: Sql): Promise<CodeTaken | undefined> => {
  const code = codeIn(text)
  if (code === undefined) return undefined
  const { member, before } = await loadNow(sql, {
    member: memberOfCode(connectionId, hashOfCode(code)),
    before: identityOfSender(connectionId, sender.id),
  })
  if (!member) return undefined
  const { person_id } = member
  const result = linked({ id: newId(), connection_id: connectionId, person_id, sender, direct_to: directTo, before, now })
  const writes = [deleteLinkCode({ connectionId, personId: person_id })]
  if (result.kind === 'linked') writes.push(insertIdentity(result.identity))
  const detail = { code: result.kind, sender: sender.id, person_id }
  const audit = { operation: 'agent.channelIdentities.link', refId: connectionId, detail }
  return { line: LINKED_LINES[result.kind], effects: { writes, audit }, detail }
}
