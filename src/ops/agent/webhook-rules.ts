import type { webhookRuleCapabilities, webhookRules } from '#contract/agent/webhook-rules'
import { onBehalfOf } from '#decisions/agent/caller'
import type { ToolBox } from '#decisions/agent/toolbox'
import {
  isAnswered,
  newWebhookRule,
  pathOf,
  revealSecret,
  revealTo,
  updateWebhookRule,
  type WebhookRule,
  webhookRuleTaskView,
  webhookRuleView,
} from '#domain/agent/trigger/webhook-rule'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Sealer } from '#kernel/sealer'
import { newWebhookSecret } from '#port/webhook'
import {
  deleteRuleRoute,
  deleteWebhookRule,
  insertRuleRoute,
  insertWebhookRule,
  listWebhookRules,
  ruleSecretRow,
  saveSecret,
  saveWebhookRule,
  sealedSecretPart,
  webhookRuleCount,
  webhookRulePart,
} from '#store/agent/webhook-rules'
import { loadBy } from '#store/engine/load'
import { personOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { allowedTools, madeBy, requireKnown } from './job/turns.ts'

const requireRule = (rule: WebhookRule | undefined): WebhookRule =>
  found(rule, 'no such webhook rule')

const loadRule = ({ id }: { id: string }) => ({ before: webhookRulePart(id) })

export interface WebhookRuleParts {
  sealer: Sealer
  tools(): ToolBox
}

/** A new secret: in the clear for the answer, and sealed for the row. */
const newSecret = ({ sealer }: WebhookRuleParts, id: string) => {
  const secret = newWebhookSecret()
  return { secret, sealed: sealer.seal(secret, ruleSecretRow(id)) }
}

export const webhookRuleHandlers = (parts: WebhookRuleParts): Handlers<typeof webhookRules> => ({
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listWebhookRules(page)), page.limit)
    return { webhookRules: rows.map(webhookRuleView), nextCursor: next_cursor }
  },

  async get({ id }, { read }) {
    return {
      webhookRule: webhookRuleView(requireRule((await loadBy(read, loadRule({ id }))).before)),
    }
  },

  update: loading(
    ({ id }) => loadRule({ id }),
    async ({ id: _, ...patch }, { gate, principal, sql }, { before }) => {
      await requireKnown(parts.tools(), { names: patch.tools, field: 'tools' }, { sql })
      const rule = updateWebhookRule(requireRule(before), patch, onBehalfOf(principal), gate.now)
      return {
        reply: { webhookRule: webhookRuleView(rule) },
        effects: { writes: [saveWebhookRule(rule)] },
      }
    },
  ),

  remove: loading(loadRule, ({ id }, _, { before }) => {
    const reply = { webhookRule: webhookRuleView(requireRule(before)) }
    return { reply, effects: { writes: [deleteWebhookRule(id), deleteRuleRoute(id)] } }
  }),

  rotate: loading(loadRule, ({ id }, { gate }, { before }) => {
    const rule = { ...requireRule(before), reveal_to: [], updated_at: gate.now }
    const { secret, sealed } = newSecret(parts, id)
    return {
      reply: { webhookRule: webhookRuleView(rule), secret },
      effects: { writes: [saveSecret(rule, sealed)] },
    }
  }),

  reveal: loading(
    ({ id }) => ({ ...loadRule({ id }), sealed: sealedSecretPart(id) }),
    ({ id }, { gate, principal }, { before, sealed }) => {
      const rule = revealSecret(requireRule(before), personOf(principal), gate.now)
      const secret = parts.sealer.open(Buffer.from(sealed!.secret, 'base64'), ruleSecretRow(id))
      return {
        reply: { webhookRule: webhookRuleView(rule), secret },
        effects: { writes: [saveWebhookRule(rule)] },
      }
    },
  ),
})

export const webhookRuleCapabilityHandlers = (
  parts: WebhookRuleParts,
): Handlers<typeof webhookRuleCapabilities> => ({
  create_webhook_rule: loading(
    () => ({ count: webhookRuleCount }),
    async ({ name, goal, tools }, { gate, principal, job, sql }, { count }) => {
      await requireKnown(parts.tools(), { names: tools, field: 'tools' }, { sql })
      const id = newId()
      const caller = onBehalfOf(principal)
      const made = {
        ...madeBy(principal, job),
        tools: allowedTools(tools, job),
        reveal_to: revealTo(caller, job),
      }
      const rule = newWebhookRule({ id, name, goal, ...made, ...count, now: gate.now })
      const { secret, sealed } = newSecret(parts, id)
      const effects = { writes: [insertWebhookRule(rule, sealed), insertRuleRoute(id)] }
      return {
        reply: { id, path: pathOf(rule), secret: isAnswered(caller, job) ? secret : null },
        effects,
        refId: id,
      }
    },
  ),

  async list_webhook_rules(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listWebhookRules(page)), page.limit)
    return { rules: rows.map(webhookRuleTaskView), nextCursor: next_cursor }
  },
})
