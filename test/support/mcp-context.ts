/** What the MCP surface is given with a request, for a workspace of a test app. */
import type { McpContext } from '#edge/mcp/context'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import { workspaceOperations } from '#ops/bind'
import type { Call } from '#ops/call'
import { createOperations, createOperatorOperations } from '#ops/index'
import { usualScopes } from '#ops/workspaces'
import type { TestApp } from './app.ts'
import { newPerson } from './session.ts'
import { newStory } from './story.ts'

export interface ContextOptions {
  scopes?: Scope[]
  /** Of a person who asks, in the place of a key. */
  role?: Role
  tenantId?: string
  /** Called before every operation, with its id; may throw. */
  before?: (id: string) => void
}

/** A workspace of its own that posts, and its context. */
export const openedIn = async (app: TestApp, options: ContextOptions = {}) => {
  const story = await newStory(app)
  return { story, context: await contextOf(app, { tenantId: story.tenantId, ...options }) }
}

/** With a key or a person of its own, whose id stands in audit rows: `call.principal.id`. */
export const contextOf = async (app: TestApp, options: ContextOptions = {}): Promise<McpContext> => {
  const { scopes = usualScopes, role, tenantId = app.tenantId, before } = options
  const newKey = async () => ({ kind: 'key', id: (await app.newKey(scopes, tenantId)).id }) as const
  const principal = role ? await newPerson(app.owner, tenantId, role) : await newKey()
  const { world } = app.workplace
  const all = workspaceOperations([...createOperations(world), ...createOperatorOperations(world)])
  const operations = new Map(all.map((o) => [o.id, o]))
  const call: Call = { tenantId, principal, scopes: new Set(scopes), surface: 'mcp', requestId: newId() }
  return {
    operations,
    call,
    async run(name, input, keyed) {
      before?.(name)
      return operations.get(name)!.run(() => input, { ...call, ...keyed })
    },
  }
}
