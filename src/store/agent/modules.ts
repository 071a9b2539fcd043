/** What workspaces have decided about modules of tools. */
import type { Db, Query } from '../engine/db.ts'
import { loadBy, many } from '../engine/load.ts'

export interface ModuleSetting {
  name: string
  mcp: boolean
  updated_at: Date
}

export const moduleSettings = many<ModuleSetting>(
  { updated_at: true },
  (sql) => sql`select name, mcp, updated_at from agent_module limit 100`,
)

/** Names of the modules whose tools a workspace lists over MCP. */
export const enabledModules = async (
  db: Pick<Db, 'read'>,
  tenantId: string,
): Promise<ReadonlySet<string>> => {
  const { settings } = await loadBy((query) => db.read({ tenantId }, query), {
    settings: moduleSettings,
  })
  return new Set(settings.flatMap(({ name, mcp }) => (mcp ? name : [])))
}

export const putModule =
  ({ set_by, ...setting }: ModuleSetting & { set_by: string }): Query =>
  (sql) =>
    sql`insert into agent_module ${sql({ ...setting, set_by, created_at: setting.updated_at })}
      on conflict (tenant_id, name) do update set mcp = excluded.mcp,
        set_by = excluded.set_by, updated_at = excluded.updated_at`
