import type { toolRules, tools } from '#contract/agent/tools'
import { textFieldOfTool } from '#contract/call-text'
import type { Tool, ToolBox } from '#decisions/agent/toolbox'
import { allowedHosts } from '#domain/agent/job/fetching'
import { decisionsOf, type RuleDecision, verdictOf } from '#domain/agent/job/verdict'
import { MOST_SERVED_TOOLS, type ServedTool } from '#domain/agent/mcp/tool'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type Scope, scopes } from '#kernel/scopes'
import { callerNow } from '#store/agent/callers'
import { mcpToolNamed, offeredMcpTools, servedRuleCount } from '#store/agent/mcp-tools'
import { deleteToolRule, putToolRule, type ToolRule, toolDecisions } from '#store/agent/rules'
import { loadBy } from '#store/engine/load'
import { type Principal, personOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { requireRead, servedRule } from './toolbox/served-rules.ts'

/** The caller in the form that tools know. A person has every scope. */
export const principalAsCaller = (
  principal: Principal,
): { principal: Principal; scopes: ReadonlySet<Scope | 'session'> } => ({
  principal,
  scopes: new Set(principal.kind === 'key' ? principal.scopes : [...scopes, 'session']),
})

/** The verdict on a call in a job that has read no untrusted text. */
const verdict = (box: ToolBox, tool: Tool, principal: Principal, rule: RuleDecision | undefined) =>
  verdictOf({
    class: tool.class,
    offered: true,
    mayRun: box.mayRun(tool.name, principalAsCaller(principal)),
    taint: [],
    rule,
  })

type Decisions = ReadonlyMap<string, RuleDecision>

const view = (
  box: ToolBox,
  tool: Tool,
  { principal, rules }: { principal: Principal; rules: Decisions },
) => {
  const rule = rules.get(tool.name)
  return {
    name: tool.name,
    title: tool.title,
    module: tool.module,
    class: tool.class,
    readsForeignText: tool.foreign,
    rule: rule ?? null,
    ...(tool.class === 'outside_read' ? { hosts: allowedHosts(rules) } : {}),
    isAsked: verdict(box, tool, principal, rule).decision === 'ask',
  }
}

const theTool = (box: ToolBox, name: string): Tool => found(box.tools.get(name), 'no such tool')

const callerOf = ({ kind, id, member }: Principal) =>
  callerNow({
    kind: kind === 'key' ? kind : 'session',
    id,
    personId: member?.personId ?? null,
  })

export const toolHandlers = (usual: ToolBox): Handlers<typeof tools> => ({
  async list(_, { read, principal: asked }) {
    const { rules, now, served } = await loadBy(read, {
      rules: toolDecisions,
      now: callerOf(asked),
      served: offeredMcpTools([]),
    })
    const box = usual.and(served)
    const principal = { ...asked, scopes: now?.scopes ?? undefined }
    const byName = decisionsOf(rules)
    // Forbidden tools are shown too, so that people can remove the rule.
    const offered = [...box.tools.values()].filter(
      (tool) => verdict(box, tool, principal, undefined).decision !== 'deny',
    )
    return { tools: offered.map((tool) => view(box, tool, { principal, rules: byName })) }
  },

  async get({ name }, { read, principal: asked }) {
    const { rules, now, served } = await loadBy(read, {
      rules: toolDecisions,
      now: callerOf(asked),
      served: mcpToolNamed(name),
    })
    const box = served ? usual.and([served]) : usual
    const tool = theTool(box, name)
    const principal = { ...asked, scopes: now?.scopes ?? undefined }
    return {
      tool: {
        ...view(box, tool, { principal, rules: decisionsOf(rules) }),
        // As the server wrote it: what models are given has its descriptions marked.
        parameters: tool.server === undefined ? tool.parameters : served!.parameters,
        textField: textFieldOfTool(name) ?? null,
        ofServer: tool.server !== undefined,
      },
    }
  },
})

/** All rules but one, which is replaced by another if one is given. */
const replaceRule = (
  rules: readonly ToolRule[],
  name: string,
  decision?: RuleDecision,
): Decisions =>
  decisionsOf([
    ...rules.filter(({ tool_name }) => tool_name !== name),
    ...(decision ? [{ tool_name: name, decision }] : []),
  ])

export const toolRuleHandlers = (usual: ToolBox): Handlers<typeof toolRules> => {
  const withOwn = (served: ServedTool | undefined): ToolBox =>
    served ? usual.and([served]) : usual
  return {
    set: loading(
      ({ name }) => ({ rules: toolDecisions, served: mcpToolNamed(name), count: servedRuleCount }),
      ({ name, decision, hash }, { gate, principal }, { rules, served, count }) => {
        const box = withOwn(served)
        const tool = theTool(box, name)
        const rule = {
          id: newId(),
          tool_name: name,
          decision,
          definition_hash: null,
          set_by: personOf(principal),
          now: gate.now,
        }
        const reply = {
          tool: view(box, tool, { principal, rules: replaceRule(rules, name, decision) }),
        }
        const isNew = !rules.some(({ tool_name }) => tool_name === name)
        if (served)
          requireRead(served, { decision, hash, room: isNew ? MOST_SERVED_TOOLS - count.count : 1 })
        const effects = served ? servedRule(rule, served) : { writes: [putToolRule(rule)] }
        return {
          reply,
          effects,
          auditDetail: { tool: name, decision, ...(served && { hash: served.hash }) },
        }
      },
    ),

    remove: loading(
      ({ name }) => ({ rules: toolDecisions, served: mcpToolNamed(name) }),
      ({ name }, { principal }, { rules, served }) => {
        const box = withOwn(served)
        const reply = {
          tool: view(box, theTool(box, name.split(':')[0]!), {
            principal,
            rules: replaceRule(rules, name),
          }),
        }
        const isThere = rules.some(({ tool_name }) => tool_name === name)
        return {
          reply,
          effects: isThere ? { writes: [deleteToolRule(name)] } : {},
          auditDetail: { tool: name },
        }
      },
    ),
  }
}
