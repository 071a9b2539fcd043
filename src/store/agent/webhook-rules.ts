import { webhookRuleRecord } from '#contract/records/agent/webhook-rule'
import type { WebhookRule } from '#domain/agent/trigger/webhook-rule'
import type { SealedRow } from '#kernel/sealer'
import type { Db, Fragment, Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { isGone } from './callers.ts'

const table = tableOf(webhookRuleRecord)

const columns = (sql: Sql): Fragment =>
  sql`${table.columns(sql, 'r')}, ${isGone(sql, sql`r.on_behalf`)} as is_abandoned`

export const webhookRulePart = (id: string) =>
  one<WebhookRule>(
    table.times,
    (sql) => sql`select ${columns(sql)} from webhook_rule r where r.id = ${id}`,
  )

/** The sealed secret, in base64. */
export const sealedSecretPart = (id: string) =>
  one<{ secret: string }>(
    {},
    (sql) => sql`select encode(secret, 'base64') as secret from webhook_rule where id = ${id}`,
  )

/** The row that the secret is sealed for. */
export const ruleSecretRow = (id: string): SealedRow => `webhook_rule/${id}`

export const webhookRuleCount = sure(
  one<{ total: number }>({}, (sql) => sql`select count(*)::int as total from webhook_rule`),
)

export const listWebhookRules =
  ({ limit, after }: Page): Query<WebhookRule> =>
  (sql) =>
    sql`select ${columns(sql)} from webhook_rule r where true
      ${after ? sql`and r.id < ${after}` : sql``} order by r.id desc limit ${limit + 1}`

export const insertWebhookRule = (rule: WebhookRule, secret: Buffer): Query =>
  table.insert(rule, { secret })

export const saveWebhookRule = (rule: WebhookRule): Query => table.save(rule)

export const saveSecret =
  (rule: WebhookRule, secret: Buffer): Query =>
  (sql) =>
    sql`update webhook_rule set secret = ${secret}, reveal_to = '[]',
      updated_at = ${rule.updated_at} where id = ${rule.id}`

export const deleteWebhookRule =
  (id: string): Query =>
  (sql) =>
    sql`delete from webhook_rule where id = ${id}`

export const insertRuleRoute =
  (id: string): Query =>
  (sql) =>
    sql`insert into inbound_route (kind, key, ref_id) values ('rule', ${id}, ${id})`

export const deleteRuleRoute =
  (id: string): Query =>
  (sql) =>
    sql`delete from inbound_route where kind = 'rule' and key = ${id}`

/** The workspace of a rule. */
export const tenantOfRule = (db: Db, id: string): Promise<string | undefined> =>
  db.system(async (sql) => {
    const [row] = await sql<{
      tenant_id: string
    }>`select tenant_id from inbound_route where kind = 'rule' and key = ${id}`
    return row?.tenant_id
  })
