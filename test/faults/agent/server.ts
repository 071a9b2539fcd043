/**
 * A server whose agent has a tool that writes to OUTSIDE_URL. With AGENT_NAIVE, learnings are added
 * as it is often done: the command runs, and another transaction writes down that it has. Runs as a
 * process of its own, which a harness kills.
 */
import { readConfig } from '#config/config'
import type { ToolBox } from '#decisions/agent/toolbox'
import { createLog } from '#kernel/log'
import { openDatabase } from '#server/database'
import { listen } from '#server/listen'
import { openWorkplace, type Workplace } from '#server/workplace'
import { changed, withOutside } from '#test/support/agent/outside-tool'

const config = readConfig()
const log = createLog(config.logLevel)
const database = await openDatabase(config, log)

const send = async (text: string): Promise<void> => {
  await fetch(process.env.OUTSIDE_URL!, { method: 'POST', body: text })
}

const NAIVE_TOOL = 'growth_add_learning'

/**
 * The results of a step are written down together: this is how long the slowest tool of it takes.
 * Of a few kills some fall into it.
 */
const STEP_MS = 500

/** The tool runs beside the mailbox, as reads do, and commits what it does there. */
const naive = (box: ToolBox, workplace: () => Workplace): ToolBox =>
  changed(box, {
    tools: new Map(
      [...box.tools].map(
        ([name, tool]) =>
          [name, name === NAIVE_TOOL ? { ...tool, way: 'read', class: 'draft' } : tool] as const,
      ),
    ),
    async read(name, args, caller, job) {
      if (name !== NAIVE_TOOL) return box.read(name, args, caller, job)
      const answer = await workplace().world.ask(caller.tenantId, {
        name: 'naive',
        priority: 'background',
        provenance: { principal: { kind: 'system', id: 'naive' }, surface: 'agent' },
        async decide(sql, gate) {
          const { value, effects } = await box.decide(name, args, { sql, gate, caller, job })
          return { reply: value, effects }
        },
      })
      await Bun.sleep(STEP_MS)
      return answer
    },
  })

const workplace: Workplace = await openWorkplace(config, database.options, {
  log,
  keys: database.keys,
  overrides: {
    tools: (box) => {
      const all = withOutside(send)(box)
      return process.env.AGENT_NAIVE ? naive(all, () => workplace) : all
    },
  },
})
await listen(config, workplace, log)
