/** The context of an MCP request, for a workspace of a test app. */
import type { McpContext } from '#edge/mcp/context'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import { workspaceOperations } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import { createOperations, createOperatorOperations } from '#ops/index'
import { usualScopes } from '#ops/operator/admin/workspaces'
import type { TestApp } from '../app.ts'
import { newStory } from '../growth/story.ts'
import { newPerson } from '../session.ts'

export interface ContextOptions {
  scopes?: Scope[]
  /** The role of a person, instead of a key. */
  role?: Role
  tenantId?: string
  /** Called before every operation, with its id; may throw. */
  before?: (id: string) => void
}

/** A new workspace that posts, and its context. */
export const openedIn = async (app: TestApp, options: ContextOptions = {}) => {
  const story = await newStory(app)
  return { story, context: await contextOf(app, { tenantId: story.tenantId, ...options }) }
}

/** With its own key or person, whose id is in audit rows: `call.principal.id`. */
export const contextOf = async (
  app: TestApp,
  options: ContextOptions = {},
): Promise<McpContext> => {
  const { scopes = usualScopes, role, tenantId = app.tenantId, before } = options
  const newKey = async () => ({ kind: 'key', id: (await app.newKey(scopes, tenantId)).id }) as const
  const principal = role ? await newPerson(app.owner, tenantId, role) : await newKey()
  const { world } = app.workplace
  const all = workspaceOperations([...createOperations(world), ...createOperatorOperations(world)])
  const operations = new Map(all.map((o) => [o.id, o]))
  const call: Call = {
    tenantId,
    principal,
    scopes: new Set(scopes),
    surface: 'mcp',
    requestId: newId(),
  }
  return {
    operations,
    call,
    async run(name, input, keyed) {
      before?.(name)
      return operations.get(name)!.run(() => input, { ...call, ...keyed })
    },
  }
}
