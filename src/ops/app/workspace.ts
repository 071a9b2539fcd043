import type { workspace } from '#contract/app/workspace'
import type { WorkKind } from '#contract/work'
import { kindsWhere } from '#decisions/work'
import { GRACE_MS } from '#domain/app/deletion'
import { fail } from '#kernel/errors'
import { plainText } from '#kernel/plain-text'
import { renameWorkspace, setDeletion, workspaceOf, workspacePart } from '#store/app/workspace'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import type { Load, Loaded } from '#store/engine/load'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { exportLines } from './workspace/export.ts'

/** Includes work that people requested; webhook deliveries continue. */
const everything = kindsWhere(({ deletion }) => deletion === 'stops')

const refuseName = (): never => {
  const message = "must be the workspace's name"
  return fail('invalid_input', `name ${message}`, { details: [{ path: 'name', message }] })
}

interface InFlight {
  item_id?: string
  engagement_id?: string
  job_id?: string
  tool?: string
  reply_id?: string
  origin: 'manual' | 'automatic'
  since: Date
}

/** How the product stops what goes out. */
interface Automation {
  /** What both functions need loaded. */
  load: Load
  /** Stops what is automatic, and work of these kinds whoever requested it. */
  stop(
    context: CommandContext,
    kinds: readonly WorkKind[],
    loaded: Loaded<Load>,
  ): Promise<{ automation: { paused: boolean; in_flight: InFlight[] }; effects: Effects }>
  inFlight(loaded: Loaded<Load>): InFlight[]
}

export const workspaceHandlers = ({
  load,
  stop,
  inFlight,
}: Automation): Handlers<typeof workspace> => {
  const standing = ({ paused }: Gate, loaded: Loaded<Load>) => ({
    paused,
    in_flight: inFlight(loaded),
  })
  return {
    get: async (_, { read }) => ({ workspace: (await read(workspaceOf))[0]! }),

    rename: loading(
      () => ({ row: workspacePart }),
      ({ name }, { tenantId }, { row }) => {
        const next = { ...row, name: plainText(name) }
        return {
          reply: { workspace: next },
          effects: { writes: [renameWorkspace(tenantId, next.name)] },
          refId: tenantId,
        }
      },
    ),

    requestDeletion: loading(
      () => ({ ...load, row: workspacePart }),
      async ({ name }, context, { row, ...loaded }) => {
        const { gate, tenantId } = context
        if (plainText(name) !== plainText(row.name)) refuseName()
        if (row.deletes_at)
          return {
            reply: { deletion: { deletes_at: row.deletes_at, automation: standing(gate, loaded) } },
            refId: tenantId,
          }
        const deletes_at = new Date(gate.now.getTime() + GRACE_MS)
        const { automation, effects } = await stop(context, everything, loaded)
        return {
          reply: { deletion: { deletes_at, automation } },
          effects: merge(effects, { writes: [setDeletion(tenantId, deletes_at)] }),
          refId: tenantId,
        }
      },
    ),

    cancelDeletion: loading(
      () => load,
      (_, { gate, tenantId }, loaded) => {
        const effects = gate.deletesAt ? { writes: [setDeletion(tenantId, null)] } : {}
        return {
          reply: { deletion: { deletes_at: null, automation: standing(gate, loaded) } },
          effects,
          refId: tenantId,
        }
      },
    ),

    export: (_, context) => exportLines(context),
  }
}
