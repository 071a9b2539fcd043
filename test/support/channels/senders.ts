/** Connections of channels and linked senders in tests, past the surfaces. */
import type { Channel, SenderPolicy } from '#domain/agent/channel/channel'
import { channelTaint, STRANGERS_TOOLS } from '#domain/agent/channel/trust'
import { newId } from '#kernel/ids'
import { turn } from '../agent/agent.ts'
import type { TestApp } from '../app.ts'

interface Place {
  app: TestApp
  tenantId: string
}

interface Connection {
  channel?: Channel
  policy?: SenderPolicy
  config?: Record<string, unknown>
}

export const connectionRow = async (
  { app: { owner }, tenantId }: Place,
  wish: Connection = {},
): Promise<string> => {
  const { channel = 'slack', policy = 'anyone', config = {} } = wish
  const id = newId()
  await owner`insert into channel_connection (id, tenant_id, channel, routing_key, display_name,
    sender_policy, config, status, created_at,
      updated_at) values (${id}, ${tenantId}, ${channel}, ${id}, 'Help', ${policy},
        ${owner.json(config as never)}, 'active', now(), now())`
  return id
}

export const identityRow = async (
  { app: { owner }, tenantId }: Place,
  {
    connection,
    sender = 'U01',
    personId,
  }: { connection: string; sender?: string; personId: string },
): Promise<string> => {
  const id = newId()
  await owner`insert into channel_identity (id, tenant_id, connection_id, external_id, person_id,
    reply_to, verified_at, created_at, updated_at)
    values (${id}, ${tenantId}, ${connection}, ${sender}, ${personId},
      ${owner.json({ to: sender })}, now(), now(), now())`
  return id
}

/** The job of a stranger's message, as a channel begins it. */
export const strangersTurn = (
  { app, tenantId }: Place,
  {
    connection,
    ...more
  }: {
    connection: string
    content: string
    model?: string
    conversation?: string
    channel?: Channel
  },
): Promise<string> => {
  const trusted = {
    tools: [...STRANGERS_TOOLS],
    taint: [channelTaint(more.channel ?? 'slack')],
    untrusted: true,
  }
  return turn(app, {
    ...more,
    ...trusted,
    tenantId,
    by: { kind: 'channel', id: connection, personId: null },
  })
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Connected = { id: string; send(method: string, path: string): Promise<{ body: any }> }

/** A code that links whoever sends it with the caller. */
export const linkCode = async ({ send, id }: Connected): Promise<string> =>
  (await send('POST', `channels/${id}/link-code`)).body.code

/** The senders that are linked, newest first. */
export const sendersOf = async ({ send, id }: Connected): Promise<string[]> =>
  (await send('GET', `channels/${id}/identities`)).body.identities.map(
    ({ sender }: { sender: string }) => sender,
  )

/** The code in a line that a sender is sent. */
export const codeIn = (line: string | undefined): string => /[A-Z]{4}-[A-Z]{4}/.exec(line ?? '')![0]
