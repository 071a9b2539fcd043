import type { workspace } from '#contract/app/workspace'
import { renameWorkspace, type WorkspaceRow, workspaceOf } from '#store/workspace'
import type { Handlers } from '../call.ts'
import { exported } from '../export.ts'

export const workspaceHandlers: Handlers<typeof workspace> = {
  get: async (_, { read }) => ({ workspace: (await read<WorkspaceRow>(workspaceOf))[0]! }),

  async rename({ name }, { sql, tenantId }) {
    const [row] = (await workspaceOf(sql)) as unknown as WorkspaceRow[]
    const next = { ...row!, name: name.trim() }
    return { reply: { workspace: next }, effects: { writes: [renameWorkspace(tenantId, next.name)] }, refId: tenantId }
  },

  export: (_, context) => exported(context),
}
