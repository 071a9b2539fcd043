import type { workspace } from '#contract/app/workspace'
import type { WorkKind } from '#contract/work'
import { kindsWhere } from '#decisions/work'
import { GRACE_MS } from '#domain/app/deletion'
import { fail } from '#kernel/errors'
import { plainText } from '#kernel/plain-text'
import { renameWorkspace, setDeletion, type WorkspaceRow, workspaceOf } from '#store/app/workspace'
import { type Effects, merge } from '#store/engine/letter'
import type { CommandContext, Handlers } from '../call.ts'
import { exportLines } from '../export.ts'

/** Includes work that people requested; webhook deliveries continue. */
const everything = kindsWhere(({ deletion }) => deletion === 'stops')

const refuseName = (): never => {
  const message = "must be the workspace's name"
  return fail('invalid_input', `name ${message}`, { details: [{ path: 'name', message }] })
}

interface InFlight {
  item_id?: string
  engagement_id?: string
  origin: 'manual' | 'automatic'
  since: Date
}

/** How the product stops what goes out. */
interface Automation {
  /** Stops what is automatic, and work of these kinds whoever requested it. */
  stop(
    context: CommandContext,
    kinds: readonly WorkKind[],
  ): Promise<{ automation: { paused: boolean; in_flight: InFlight[] }; effects: Effects }>
  inFlight(context: CommandContext, recalled: Set<string>): Promise<InFlight[]>
}

const deletionView = async ({ inFlight }: Automation, context: CommandContext, deletes_at: Date | null) => ({
  deletes_at,
  automation: { paused: context.gate.paused, in_flight: await inFlight(context, new Set()) },
})

export const workspaceHandlers = (automation: Automation): Handlers<typeof workspace> => ({
  get: async (_, { read }) => ({ workspace: (await read<WorkspaceRow>(workspaceOf))[0]! }),

  async rename({ name }, { sql, tenantId }) {
    const [row] = (await workspaceOf(sql)) as unknown as WorkspaceRow[]
    const next = { ...row!, name: plainText(name) }
    return { reply: { workspace: next }, effects: { writes: [renameWorkspace(tenantId, next.name)] }, refId: tenantId }
  },

  async requestDeletion({ name }, context) {
    const { sql, gate, tenantId } = context
    const [row] = (await workspaceOf(sql)) as unknown as WorkspaceRow[]
    if (plainText(name) !== plainText(row!.name)) refuseName()
    if (row!.deletes_at) return { reply: { deletion: await deletionView(automation, context, row!.deletes_at) }, refId: tenantId }
    const deletes_at = new Date(gate.now.getTime() + GRACE_MS)
    const { automation: stopped, effects } = await automation.stop(context, everything)
    return {
      reply: { deletion: { deletes_at, automation: stopped } },
      effects: merge(effects, { writes: [setDeletion(tenantId, deletes_at)] }),
      refId: tenantId,
    }
  },

  async cancelDeletion(_, context) {
    const effects = context.gate.deletesAt ? { writes: [setDeletion(context.tenantId, null)] } : {}
    return { reply: { deletion: await deletionView(automation, context, null) }, effects, refId: context.tenantId }
  },

  export: (_, context) => exportLines(context),
})
