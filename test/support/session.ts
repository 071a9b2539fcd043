/** Signed-in people of a workspace. */
import type postgres from 'postgres'
import type { Allowance } from '#kernel/allowance'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { scopes } from '#kernel/scopes'
import { workspaceOperations } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import { createOperations } from '#ops/index'
import type { Principal } from '#store/engine/principal'
import type { TestApp } from './app.ts'

export interface PersonsAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
  replayed?: boolean
  allowances?: Allowance[]
}

/** Makes a person with a session in the workspace, without a password. */
export const newPerson = async (
  owner: postgres.Sql,
  tenantId: string,
  role: Role = 'owner',
): Promise<Principal & { member: { personId: string } }> => {
  const [personId, id] = [newId(), newId()]
  const email = `${personId}@example.com`
  // One statement, because thousands of tests make a person.
  await owner`with p as (insert into person (id, email, email_key, name, password_hash)
      values (${personId}, ${email}, ${email}, 'Test', 'none')),
    m as (insert into member (tenant_id, person_id, role)
      values (${tenantId}, ${personId}, ${role}))
    insert into session (id, tenant_id, person_id, kind, password_at, expires_at)
      values (${id}, ${tenantId}, ${personId}, 'browser', clock_timestamp(),
        clock_timestamp() + interval '1 day')`
  return { kind: 'session', id, member: { personId, role } }
}

export interface SignedIn {
  personId: string
  email: string
  sessionId: string
  /** The access token, as a bearer credential. */
  key: string
}

/** A new person of the workspace, with a session. */
export const signedIn = async (
  { owner, workplace }: Pick<TestApp, 'owner' | 'workplace'>,
  tenantId: string,
  role?: Role,
): Promise<SignedIn> => {
  const { id: sessionId, member } = await newPerson(owner, tenantId, role)
  const { personId } = member
  const key = await workplace.world.identity.tokens.access(
    { sessionId, personId },
    new Date(Date.now() + 600_000),
  )
  return { personId, email: `${personId}@example.com`, sessionId, key }
}

/** The same, with its own name. */
export const signedInAs = async (
  app: Pick<TestApp, 'owner' | 'workplace'>,
  tenantId: string,
  { name, role }: { name: string; role: Role },
): Promise<SignedIn> => {
  const person = await signedIn(app, tenantId, role)
  await app.owner`update person set name = ${name} where id = ${person.personId}`
  return person
}

/**
 * The access token of a new person's session, as Bearer credential: `app.send(…, { key: await
 * tokenOf(app, tenantId, 'editor') })`.
 */
export const tokenOf = async (
  app: Pick<TestApp, 'owner' | 'workplace'>,
  tenantId: string,
  role?: Role,
): Promise<string> => (await signedIn(app, tenantId, role)).key

/**
 * Runs an operation by its id, such as `growth.items.postNow`, as a signed-in owner of the
 * workspace. Rejects with the `AppError`.
 */
export const asPerson = (
  { workplace, owner }: Pick<TestApp, 'workplace' | 'owner'>,
  tenantId: string,
) => {
  let person: Promise<Principal> | undefined
  return async (id: string, input: unknown, more: Partial<Call> = {}): Promise<PersonsAnswer> => {
    person ??= newPerson(owner, tenantId)
    const operation = workspaceOperations(createOperations(workplace.world)).find(
      (one) => one.id === id,
    )!
    const call: Call = {
      tenantId,
      principal: await person,
      scopes: new Set([...scopes, 'session' as const]),
      surface: 'rest',
      requestId: 'test',
      ...more,
    }
    const { body, ...answer } = await operation.run(() => input, call)
    return { ...answer, body: JSON.parse(body) }
  }
}
