/** A message that contains a code links its sender, and begins no job. */
import { recipientOf } from '#domain/agent/channel/answer'
import { type ChannelConnection, channelTraits } from '#domain/agent/channel/channel'
import {
  CODE_MS,
  codeIn,
  hashOfCode,
  LINKED_LINES,
  linkIdentity,
  secondCodeText,
} from '#domain/agent/channel/identity'
import type { ChannelMessage } from '#domain/agent/channel/message'

import { newId } from '#kernel/ids'
import type { Sealer } from '#kernel/sealer'
import {
  deleteLinkCode,
  identityOfSender,
  insertIdentity,
  memberOfCode,
  putSecondCode,
} from '#store/agent/channel-identities'
import { memberPart } from '#store/app/members'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { newLinkCode } from './channel-codes.ts'
import { replyEffects } from './channel-replies.ts'

interface Sent {
  connection: Pick<ChannelConnection, 'id' | 'channel'>
  message: Pick<ChannelMessage, 'sender' | 'sender_name' | 'text' | 'reply_to' | 'direct_to'>
  now: Date
}

export interface CodeTaken {
  effects: Effects
  /** For the audit. */
  detail: Record<string, unknown>
}

interface Owner {
  person_id: string
}

const noteCode = (
  { connection, message: { sender } }: Sent,
  { person_id }: Owner,
  code: string,
  effects: Effects,
): CodeTaken => {
  const detail = { code, sender, person_id }
  const audit = { operation: 'agent.channelIdentities.link', refId: connection.id, detail }
  return { effects: merge(effects, { audit }), detail }
}

/**
 * Sent to the sender alone, under our own subject: the sender's subject may be somebody else's
 * text.
 */
const secondCode = async (
  sent: Sent,
  owner: Owner,
  { sql, sealer }: { sql: Sql; sealer: Sealer },
): Promise<CodeTaken> => {
  const { connection, message, now } = sent
  const { member } = await loadNow(sql, { member: memberPart(owner.person_id) })
  const { letters, shown } = newLinkCode()
  const code = {
    connectionId: connection.id,
    personId: owner.person_id,
    hash: hashOfCode(letters),
    sender: message.sender,
  }
  const writes = [putSecondCode({ ...code, expiresAt: new Date(now.getTime() + CODE_MS) })]
  const text = secondCodeText(member?.email ?? member?.name ?? 'a member')
  const line = {
    connection,
    replyTo: message.direct_to ?? message.reply_to,
    recipient: recipientOf(message),
    text,
    now,
  }
  return noteCode(
    sent,
    owner,
    'second',
    merge({ writes }, replyEffects({ ...line, secret: { value: shown, sealer } })),
  )
}

/**
 * Undefined if the message has no code that is valid for the connection. It is then treated like
 * any other message, so nobody learns whether a guessed code existed. A code is used up even if its
 * sender is already linked to another member.
 */
export const takeCode = async (
  sent: Sent,
  at: { sql: Sql; sealer: Sealer },
): Promise<CodeTaken | undefined> => {
  const { connection, message, now } = sent
  const { sender: id, sender_name: name, text, reply_to: replyTo, direct_to } = message
  const code = codeIn(text ?? '')
  if (code === undefined) return undefined
  const { owner, before } = await loadNow(at.sql, {
    owner: memberOfCode(connection.id, hashOfCode(code)),
    before: identityOfSender(connection.id, id),
  })
  if (!owner || (owner.sender !== null && owner.sender !== id)) return undefined
  const { person_id } = owner
  const result = linkIdentity({
    id: newId(),
    connection_id: connection.id,
    person_id,
    sender: { id, name },
    direct_to,
    before,
    now,
  })
  if (
    result.kind === 'linked' &&
    owner.sender === null &&
    channelTraits[connection.channel].isForgeable
  )
    return secondCode(sent, owner, at)
  const writes = [deleteLinkCode({ connectionId: connection.id, personId: person_id })]
  if (result.kind === 'linked') writes.push(insertIdentity(result.identity))
  const line = replyEffects({
    connection,
    replyTo,
    recipient: recipientOf(message),
    text: LINKED_LINES[result.kind],
    now,
  })
  return noteCode(sent, owner, result.kind, merge({ writes }, line))
}
