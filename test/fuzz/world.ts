/** The workspace in which one operation is fuzzed: its callers, records and plan. */
import { capabilities, operations } from '#contract/index'
import { capKeys, features, quotaKeys } from '#contract/limits'
import { type NamedOp, pathParams } from '#contract/op'
import { newApiKey } from '#kernel/api-key'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { revokeKey } from '#store/app/keys'
import { changePlan } from '#store/app/tenants'
import type { TestApp } from '#test/support/app'
import { legalInput, newWorkspace, recipes, type Workspace } from '#test/support/contract/prepare'
import { tokenOf } from '#test/support/session'
import type { CallerName, Wish } from './requests.ts'

export interface FuzzWorld {
  workspace: Workspace
  /** A Bearer credential, or none. `able` can run the operation, if anyone can. */
  credential(name: CallerName, o: NamedOp): string | undefined
  setPlan(plan: Wish['plan']): Promise<void>
  /** Path parameters of some existing record, of any resource. */
  existing(pick: number): Record<string, string>
}

const PLENTY = 1_000_000
const plentiful = Object.fromEntries(
  [...capKeys, ...quotaKeys, 'reads_free', 'reads_payg'].map((key) => [key, PLENTY]),
)
const nothing = Object.fromEntries(
  [...capKeys, ...quotaKeys, 'reads_free', 'reads_payg'].map((key) => [key, 0]),
)
const bare = {
  ...plentiful,
  features: Object.fromEntries(features.map((feature) => [feature, false])),
}

const plans = {
  open: { billing: 'ok', overrides: plentiful },
  suspended: { billing: 'billing_suspended', overrides: plentiful },
  spent: { billing: 'ok', overrides: nothing },
  bare: { billing: 'ok', overrides: bare },
} as const

const credentials = async ({
  app,
  tenantId,
  key,
  session,
}: Workspace): Promise<Record<CallerName, string | undefined>> => {
  const revoked = await app.newKey([...scopes], tenantId)
  await revokeKey(app.workplace.db, revoked.id)
  return {
    able: key,
    owner: session,
    reader: (await app.newKey(['api:read'], tenantId)).api_key,
    writer: (await app.newKey(['api:write'], tenantId)).api_key,
    editor: await tokenOf(app, tenantId, 'editor'),
    approver: await tokenOf(app, tenantId, 'approver'),
    viewer: await tokenOf(app, tenantId, 'viewer'),
    revoked: revoked.api_key,
    nobody: undefined,
    garbage: newApiKey(),
  }
}

/** The text that samples have in all fields, so that it works as the current password. */
const PASSWORD = 'Every delay starts at the dock.'
const hash = Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })

const givePasswords = async ({ app, tenantId }: Workspace): Promise<void> => {
  await app.owner`update person set password_hash = ${await hash}
    where id in (select person_id from member where tenant_id = ${tenantId})`
}

/** Two records of each resource, so that lists have a second page. */
const records = async (workspace: Workspace): Promise<Record<string, string>[]> => {
  const all: Record<string, string>[] = []
  for (const { make } of Object.values(recipes))
    all.push(await make(workspace), await make(workspace))
  return all
}

export const openWorld = async (app: TestApp): Promise<FuzzWorld> => {
  const workspace = await newWorkspace(app)
  const known = await credentials(workspace)
  const pool = [...(await records(workspace)), { id: newId() }]
  await givePasswords(workspace)
  let current: Wish['plan'] | undefined
  return {
    workspace,
    credential: (name, o) => known[name === 'able' && o.scope === 'session' ? 'owner' : name],
    async setPlan(plan) {
      if (plan === current) return
      current = plan
      await changePlan(app.workplace.db, workspace.tenantId, (before) => ({
        ...before,
        ...plans[plan],
      }))
    },
    existing: (pick) => pool[pick % pool.length]!,
  }
}

/** Path parameters with which the operation finds a record in the right state. */
export const legalPath = async (
  workspace: Workspace,
  o: NamedOp,
): Promise<Record<string, unknown>> => {
  const input: Record<string, unknown> = await legalInput(workspace, o)
  return Object.fromEntries(pathParams(o.path).map((name) => [name, input[name]]))
}

const calling = operations.find(({ id }) => id === 'agent.actions.call')!

/** What requests are sent to: all operations, and capabilities as if each were one. */
export const targets: NamedOp[] = [
  ...operations,
  ...capabilities.map(({ id, path, input }): NamedOp => {
    const { body: _, ...rest } = calling
    return { ...rest, id, path, input } as NamedOp
  }),
]

/** The operation of the document that answers at a path. */
export const operationAt = (path: string, method: string): NamedOp | undefined => {
  const meant = targets.find(
    (o) => o.path === path && (o.method === method || (method === 'HEAD' && o.method === 'GET')),
  )
  return meant && !operations.includes(meant) ? calling : meant
}
