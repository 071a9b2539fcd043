import type { toolRules, tools } from '#contract/agent/tools'
import type { Tool, ToolBox } from '#decisions/agent/toolbox'
import { decisionsOf, type RuleDecision, verdictOf } from '#domain/agent/verdict'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type Scope, scopes } from '#kernel/scopes'
import { callerNow } from '#store/agent/callers'
import { deleteToolRule, putToolRule, toolDecisions, toolRulePart } from '#store/agent/rules'
import { loadBy } from '#store/engine/load'
import { type Principal, personOf } from '#store/engine/principal'
import type { Handlers } from '../call.ts'
import { loading } from '../loading.ts'

/** The caller as tools know it. A person has every scope. */
export const toolCaller = (principal: Principal): { principal: Principal; scopes: ReadonlySet<Scope | 'session'> } => ({
  principal,
  scopes: new Set(principal.kind === 'key' ? principal.scopes : [...scopes, 'session']),
})

/** The verdict on a call in a job that has read no untrusted text. */
const verdict = (box: ToolBox, tool: Tool, principal: Principal, rule: RuleDecision | undefined) =>
  verdictOf({ class: tool.class, offered: true, mayRun: box.mayRun(tool.name, toolCaller(principal)), taint: [], rule })

const view = (box: ToolBox, tool: Tool, { principal, rule }: { principal: Principal; rule: RuleDecision | undefined }) => ({
  ...{ name: tool.name, title: tool.title, module: tool.module, class: tool.class, readsForeignText: tool.foreign },
  rule: rule ?? null,
  isAsked: verdict(box, tool, principal, rule).decision === 'ask',
})

export const toolHandlers = (box: ToolBox): Handlers<typeof tools> => ({
  async list(_, { read, principal: asked }) {
    const { kind, id, member } = asked
    const caller = callerNow({ kind: kind === 'key' ? kind : 'session', id, personId: member?.personId ?? null })
    const { rules, now } = await loadBy(read, { rules: toolDecisions, now: caller })
    const principal = { ...asked, scopes: now?.scopes ?? undefined }
    const byName = decisionsOf(rules)
    // What a rule forbids is shown, so that the rule can be removed.
    const offered = [...box.tools.values()].filter((tool) => verdict(box, tool, principal, undefined).decision !== 'deny')
    return { tools: offered.map((tool) => view(box, tool, { principal, rule: byName.get(tool.name) })) }
  },
})

export const toolRuleHandlers = (box: ToolBox): Handlers<typeof toolRules> => {
  const the = (name: string): Tool => found(box.tools.get(name), 'no such tool')
  return {
    async set({ name, decision }, { gate, principal }) {
      const tool = the(name)
      const rule = { id: newId(), tool_name: name, decision, set_by: personOf(principal), now: gate.now }
      const reply = { tool: view(box, tool, { principal, rule: decision }) }
      return { reply, effects: { writes: [putToolRule(rule)] }, auditDetail: { tool: name, decision } }
    },

    remove: loading(
      ({ name }) => ({ rule: toolRulePart(name) }),
      ({ name }, { principal }, { rule }) => {
        const reply = { tool: view(box, the(name), { principal, rule: undefined }) }
        return { reply, effects: rule ? { writes: [deleteToolRule(name)] } : {}, auditDetail: { tool: name } }
      },
    ),
  }
}
