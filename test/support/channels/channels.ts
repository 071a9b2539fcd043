/** Connections of channels in tests. */
import { expect } from 'bun:test'
import { type Credentials, newChannelConnection } from '#domain/agent/channel/connection'
import { newId } from '#kernel/ids'
import { channelCredentialsRow, insertChannelConnection } from '#store/agent/channel-connections'
import { eventually, type TestApp } from '../app.ts'
import { type Workspace, write } from '../arrange.ts'
import { signedIn } from '../session.ts'

export const CHANNEL_SECRET = 'whsec_Y2hhbm5lbC1zZWNyZXQtb2YtdGVzdHMtMDAwMQ=='

/** A connection of the dev channel, about which its provider has not been asked yet. */
export const makeChannel = async (
  workspace: Workspace,
  credentials: Credentials = { secret: CHANNEL_SECRET },
): Promise<string> => {
  const id = newId()
  const known = { credentials: { secret: { needed: true } }, config: {} }
  const given = { id, channel: 'dev' as const, routingKey: newId(), credentials }
  const { connection } = newChannelConnection(given, { known, total: 0, now: new Date() })
  const sealed = workspace.app.workplace.world.sealer.seal(
    JSON.stringify(credentials),
    channelCredentialsRow(id),
  )
  await write(workspace, { writes: [insertChannelConnection(connection, { credentials: sealed })] })
  return id
}

/** A signed-in owner who connects channels. */
export const channelAdmin = async (app: TestApp, tenantId = app.tenantId) => {
  const { key } = await signedIn(app, tenantId, 'owner')
  const send = (
    method: string,
    path: string,
    body?: unknown,
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  ): Promise<{ status: number; body: any }> =>
    app.send(method, `/api/v1/${path}`, { key, ...(body === undefined ? {} : { body }) })
  const get = async (id: string): Promise<Record<string, unknown>> =>
    (await send('GET', `channels/${id}`)).body.connection
  /** Waits until its provider has answered. */
  const checked = (id: string) =>
    eventually(
      () => get(id),
      ({ status }) => status !== 'unverified',
    )
  const connect = async (body: Record<string, unknown> = {}): Promise<string> => {
    const given = {
      channel: 'dev',
      routingKey: newId(),
      credentials: { secret: CHANNEL_SECRET },
      ...body,
    }
    const made = await send('POST', 'channels', given)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body.connection.id
  }
  /** Connects one that accepts messages. */
  const active = async (body: Record<string, unknown> = {}): Promise<string> => {
    const id = await connect(body)
    expect(await checked(id)).toMatchObject({ status: 'active' })
    return id
  }
  return { key, send, get, checked, connect, active }
}
