/**
 * A server started by `src/main.ts`, with a workspace, a key and a person, for requests to every
 * row of the document.
 */

import type postgres from 'postgres'
import { hashApiKey, newApiKey } from '#kernel/api-key'
import { newId } from '#kernel/ids'
import { type Scope, scopes } from '#kernel/scopes'
import { soleKey } from '#kernel/secret-keys'
import { createTokens } from '#port/tokens'
import { eventually, type Reply } from '#test/support/app'
import { TEST_SECRET } from '#test/support/database/db'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { newDeployment, type ServerProcess, startServer } from '#test/support/processes/server'
import { newPerson } from '#test/support/session'

export interface Place extends AsyncDisposable {
  owner: postgres.Sql
  server: ServerProcess
  /** With every scope. */
  key: string
  /** The access token of an owner. */
  person: string
  newKey(of: readonly Scope[]): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  send(method: string, path: string, body?: unknown, key?: string | null): Promise<Reply<any>>
  /** The same, of which an answer below 300 is expected. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  made(method: string, path: string, body?: unknown, key?: string): Promise<any>
}

const SESSION_MS = 3_600_000

/** Tasks are never answered, so that they run for as long as they are looked at. */
const openModel = async () => {
  const fake = await createFakeOpenAi()
  // A task has no tools.
  fake.converseOtherwise(({ tools }) => (tools ? { text: 'Noted.' } : 'hang'))
  return fake
}

export const openPlace = async (): Promise<Place> => {
  await using stack = new AsyncDisposableStack()
  const deployment = stack.use(await newDeployment())
  const { owner } = deployment
  const fake = stack.use(await openModel())
  const env = { OPENAI_BASE_URL: fake.url, LOG_LEVEL: 'silent', RATE_LIMITS: 'off' }
  const server = stack.use(await startServer({ ...deployment.server, env }))
  const { tenantId } = await eventually(
    () => deployment.firstWorkspace(),
    (workspace) => workspace.tenantId !== undefined,
  )
  const newKey = async (of: readonly Scope[]): Promise<string> => {
    const key = newApiKey()
    await owner`insert into api_key (id, tenant_id, name, hash, last4, scopes)
      values (${newId()}, ${tenantId}, 'codes', ${hashApiKey(key)}, ${key.slice(-4)},
        ${of as string[]})`
    return key
  }
  const key = await newKey(scopes)
  const { id: sessionId, member } = await newPerson(owner, tenantId)
  const person = await createTokens(soleKey(TEST_SECRET)).access(
    { sessionId, personId: member.personId },
    new Date(Date.now() + SESSION_MS),
  )
  const send: Place['send'] = (method, path, body, by = key) =>
    server.send(method, path, { key: by, ...(body === undefined ? {} : { body }) })
  const made: Place['made'] = async (method, path, body, by) => {
    const reply = await send(method, path, body, by)
    if (reply.status < 300) return reply.body
    throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  }
  const owned = stack.move()
  return {
    owner,
    server,
    key,
    person,
    newKey,
    send,
    made,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** While no row can be written to a table. */
export const unwritable = async <R>(
  { owner }: Place,
  table: string,
  during: () => Promise<R>,
): Promise<R> => {
  await owner.unsafe(`alter table ${table} add constraint away check (false) not valid`)
  try {
    return await during()
  } finally {
    await owner.unsafe(`alter table ${table} drop constraint away`)
  }
}

/** While a table cannot be read. */
export const unreadable = async <R>(
  { owner }: Place,
  table: string,
  during: () => Promise<R>,
): Promise<R> => {
  await owner.unsafe(`alter table ${table} rename to ${table}_away`)
  try {
    return await during()
  } finally {
    await owner.unsafe(`alter table ${table}_away rename to ${table}`)
  }
}
