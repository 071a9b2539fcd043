/** A tool of an MCP server whose definition has changed since somebody set its rule. */
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { errorWords } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { command, useRead } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ExactText, ExactWords } from '../../parts/exact-text.tsx'
import { OthersWords } from '../../parts/others-words.tsx'
import { Empty, ReadView } from '../../parts/states.tsx'
import { ChangedParts } from '../../parts/words-changed.tsx'
import { PaneBody } from '../pane-body.tsx'
import type { PaneProps } from '../pane-props.ts'
import { useNews } from '../use-news.ts'

type Answer = AnswerOf<'agent.mcpServers.get'>
type Tool = Answer['tools'][number]
type Rule = 'allow' | 'ask' | 'deny'

const RULES: Record<Rule, string> = {
  allow: 'Called unasked, while the job has read no words of outsiders',
  ask: 'Asked of a person each time',
  deny: 'Never used',
}

const FIELDS: Record<Tool['changes'][number]['field'], string> = {
  description: 'Its description',
  parameters: 'Its arguments',
}

const Changes = ({ tool }: { tool: Tool }) => (
  <section className="pane-part" aria-label="What has changed">
    <h3>What has changed since its rule was set</h3>
    {tool.changes.length === 0 && (
      <p className="soft">Only parts that neither the agent nor people are shown.</p>
    )}
    {tool.changes.map(({ field, parts }) => (
      <div key={field} className="post">
        <h4>{FIELDS[field]}</h4>
        <ChangedParts parts={parts} look={field === 'parameters' ? 'mono' : 'plain'} />
      </div>
    ))}
  </section>
)

const Whole = ({ tool, server }: { tool: Tool; server: Answer['server'] }) => (
  <section className="pane-part" aria-label="As it is now">
    <h3>As it is now</h3>
    <OthersWords whose={`Words of the server ${server.name}`} text={tool.description} />
    <details className="raw">
      <summary>Its arguments, as JSON Schema</summary>
      <ExactText text={JSON.stringify(tool.parameters, null, 2)} look="mono" />
    </details>
    <dl className="fact-list">
      <div>
        <dt>Rule so far</dt>
        <dd>{tool.rule === null ? 'None' : RULES[tool.rule]}</dd>
      </div>
    </dl>
  </section>
)

const SAID: Record<Rule, string> = {
  allow: 'Allowed as it is now',
  ask: 'Asked each time from now on',
  deny: 'Never used from now on',
}

const useDeciding = (tool: Tool, next: () => void) => {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const isOpen = tool.state === 'changed'
  const own = useNews(isOpen, () => ({ says: 'Somebody set the rule of this tool just now' }))
  const decide = (decision: Rule) => async () => {
    if (busy) return
    setBusy(true)
    own(true)
    try {
      await command('agent.toolRules.set', { name: tool.name, decision, hash: tool.hash })
      notify({ says: SAID[decision], about: tool.name })
      next()
    } catch (cause) {
      own(false)
      notify({ says: errorWords(cause), about: tool.name, tone: 'bad' })
    }
    setBusy(false)
    await client.invalidateQueries()
  }
  return { busy, isOpen, decide }
}

const BUTTONS = [
  { decision: 'deny', shortcut: 'denyTool', tone: 'harm', says: 'Never use it' },
  { decision: 'ask', shortcut: 'askTool', tone: 'plain', says: 'Ask each time' },
  { decision: 'allow', shortcut: 'allowTool', tone: 'go', says: 'Allow as it is now' },
] as const

interface DecideProps {
  tool: Tool
  server: Answer['server']
  next(): void
}

const Decide = ({ tool, server, next }: DecideProps) => {
  const { busy, isOpen, decide } = useDeciding(tool, next)
  return (
    <>
      <PaneBody says="The tool">
        <header className="pane-title">
          <p>
            <span className={`state ${isOpen ? 'asks' : 'over'}`}>
              {isOpen ? 'Changed: not offered to the agent until you decide' : 'Decided'}
            </span>
          </p>
          <h2 dir="auto">
            <ExactWords text={tool.name} /> of <ExactWords text={server.name} />
          </h2>
        </header>
        <Changes tool={tool} />
        <Whole tool={tool} server={server} />
      </PaneBody>
      {isOpen && (
        <div className="pane-foot">
          {BUTTONS.map(({ decision, shortcut, tone, says }) => (
            <ActionButton
              key={decision}
              calls="agent.toolRules.set"
              shortcut={shortcut}
              tone={tone}
              busy={busy}
              act={() => void decide(decision)()}
            >
              {says}
            </ActionButton>
          ))}
        </div>
      )}
    </>
  )
}

export const ToolChangePane = ({ entry, next }: PaneProps) => {
  // The entry leaves the list once the rule is set; the pane still shows what became of it.
  const last = useRef(entry)
  last.current = entry ?? last.current
  const { title, parent } = last.current ?? {}
  const read = useRead(
    'agent.mcpServers.get',
    { id: parent?.id ?? '' },
    { enabled: parent !== undefined && parent !== null },
  )
  const tool = read.data?.tools.find(({ name }) => name === title)
  if (!parent) return <Empty title="This change is no longer waiting" />
  if (read.data && tool) return <Decide tool={tool} server={read.data.server} next={next} />
  return (
    <PaneBody says="The tool">
      <ReadView read={read} what="The tool" lines={6}>
        <Empty title="The server no longer has this tool" />
      </ReadView>
    </PaneBody>
  )
}
