/** People's own items, over HTTP, in a workspace that each test has for itself. */
import { beforeEach } from 'bun:test'
import { newId } from '#kernel/ids'
import { connectAccount } from '#ops/operator/admin/workspaces'
import type { Reply, TestApp } from '../app.ts'
import { newWorkspace, type Workspace } from '../contract/prepare.ts'

export const OWN_TEXT = 'Call before they do. Every delay starts at the dock.'

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export const refusal = ({ status, body }: Reply<any>) => [
  status,
  body.error?.code,
  body.error?.message,
  body.error?.details?.[0]?.path,
]

export const useOwnItems = (app: TestApp) => {
  let workspace: Workspace
  beforeEach(async () => {
    workspace = await newWorkspace(app)
  })
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, path, { key: workspace.key, ...(body === undefined ? {} : { body }) })
  return {
    tenantId: () => workspace.tenantId,
    send,
    write: async (fields: object = {}) =>
      (await send('POST', 'items', { body: OWN_TEXT, ...fields })).body.item,
    edit: (id: string, change: object) => send('PATCH', `items/${id}`, change),
    read: async (id: string) => (await send('GET', `items/${id}`)).body.item,
    /** Another account than the default one. */
    async connected() {
      const { tenantId } = workspace
      const account = await app.workplace.sandbox.connect(tenantId, `w-${newId()}`)
      await connectAccount(app.workplace.world, tenantId, { network: 'sandbox', ...account })
      const { id, handle } = (await send('GET', 'connections?limit=1')).body.connections[0]
      return { ...account, id: id as string, handle: handle as string }
    },
  }
}
