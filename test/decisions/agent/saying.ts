/** A workspace with two accounts, whose calls are said as one of its letters reads them. */
import { beforeAll, expect } from 'bun:test'
import { operations } from '#contract/index'
import { sayingFor } from '#decisions/agent/say'
import type { CallSummary } from '#decisions/agent/saying'
import { type Load, loadNow } from '#store/engine/load'
import { call, newWorkspace, recipes, type Workspace } from '#test/support/contract/prepare'
import { useApp } from '#test/support/use'

/**
 * A person is asked about these only after the agent has read strangers' text, and then sees the
 * words.
 */
export const texts = ['growth.items.create', 'growth.items.edit', 'growth.items.reopen']

export const the = (id: string) => operations.find((o) => o.id === id)!

export interface Account {
  id: string
  handle: string
  is_default: boolean
}

export const useSaying = () => {
  const app = useApp()
  let workspace: Workspace

  /** As a letter of the workspace reads it. */
  const say = (operation: string, input: object): Promise<CallSummary> => {
    const saying = sayingFor(operation, input)!
    return app.workplace.world.ask(workspace.tenantId, {
      name: 'say',
      priority: 'interactive',
      provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
      decide: async (sql) => ({
        reply: saying.read(await loadNow<Load>(sql, saying.load), app.workplace.world.networks),
      }),
    })
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const run = async (id: string, input: Record<string, unknown>): Promise<any> => {
    const reply = await call(workspace, the(id), input)
    expect([id, reply.status, reply.status < 300 ? '' : reply.text]).toEqual([id, reply.status, ''])
    return reply.body
  }

  /** All accounts of the workspace, once there is one more. */
  const connected = async (): Promise<Account[]> => {
    await recipes['growth.connections']!.make(workspace)
    const { connections } = await run('growth.connections.list', {})
    return connections as Account[]
  }
  const defaultHandle = async (): Promise<string> =>
    (await run('growth.connections.list', {})).connections.find((one: Account) => one.is_default)
      .handle
  const make = async (resource: string): Promise<string> =>
    (await recipes[resource]!.make(workspace)).id!
  const set = (table: 'item' | 'engagement', id: string, fields: object) =>
    app.owner`update ${app.owner(table)} set ${app.owner(fields as Record<string, string>)}
      where id = ${id}`

  beforeAll(async () => {
    workspace = await newWorkspace(app)
    await connected()
  })

  return {
    app,
    say,
    run,
    connected,
    defaultHandle,
    make,
    set,
    get workspace() {
      return workspace
    },
  }
}
