/** A text for a playbook that somebody proposes: what it changes, why, and the decision. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, errorWords } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { command, useRead } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ExactText, ExactWords } from '../../parts/exact-text.tsx'
import { Empty, ReadView } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { WordsChanged } from '../../parts/words-changed.tsx'
import { PaneBody } from '../pane-body.tsx'
import type { PaneProps } from '../pane-props.ts'
import { useNews } from '../use-news.ts'

type Answer = AnswerOf<'agent.playbooks.version'>
type Version = Answer['version']

const STATES: Record<Version['state'], { says: string; tone: string }> = {
  draft: { says: 'Proposed', tone: 'asks' },
  active: { says: 'Active', tone: 'good' },
  retired: { says: 'Retired: another version has taken its place', tone: 'over' },
  rejected: { says: 'Rejected', tone: 'over' },
}

const WRITERS: Record<Version['author']['kind'], string> = {
  agent: 'The agent, in a job',
  channel: 'A person, in a channel',
  key: 'A program with a key',
  session: 'A person',
  system: 'The deployment',
}

const Changes = ({ version, active }: { version: Version; active: Version | undefined }) => (
  <section className="pane-part" aria-label="What it changes">
    <h3>
      {active === undefined
        ? 'Its text: there is no active one'
        : `What it changes of version ${active.number}, which holds now`}
    </h3>
    <div className="post">
      {active === undefined ? (
        <ExactText text={version.content} />
      ) : (
        <WordsChanged
          before={active.content}
          after={version.content}
          called={['Holds now', 'Proposed']}
        />
      )}
    </div>
  </section>
)

const Facts = ({ playbook, version }: { playbook: Answer['playbook']; version: Version }) => (
  <dl className="fact-list pane-part">
    <div>
      <dt>Why</dt>
      <dd>
        <ExactText text={version.rationale ?? 'No reason was given.'} />
      </dd>
    </div>
    <div>
      <dt>Playbook</dt>
      <dd>
        <ExactWords text={playbook.name} />
        {playbook.status === 'archived' && ' (archived)'}
        {playbook.pinned && ': every job of the agent is given it'}
      </dd>
    </div>
    <div>
      <dt>Written by</dt>
      <dd>
        {WRITERS[version.author.kind]}, <When at={version.createdAt} />
      </dd>
    </div>
  </dl>
)

interface DecideProps {
  playbook: Answer['playbook']
  version: Version
  active: Version | undefined
  next(): void
}

const useDeciding = ({ playbook, version, next }: DecideProps) => {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const isOpen = version.state === 'draft'
  const own = useNews(isOpen, () => ({
    says: `Somebody decided: ${STATES[version.state].says}`,
  }))
  const decide =
    (id: 'agent.playbooks.activate' | 'agent.playbooks.reject', says: string) => async () => {
      if (busy) return
      setBusy(true)
      own(true)
      try {
        await command(id, { id: playbook.id, versionId: version.id })
        notify({ says, about: playbook.name })
        next()
      } catch (cause) {
        own(false)
        notify({ says: errorWords(cause), about: playbook.name, tone: 'bad' })
      }
      setBusy(false)
      await client.invalidateQueries()
    }
  return {
    busy,
    isOpen,
    activate: decide('agent.playbooks.activate', 'Activated: the agent follows it from now on'),
    reject: decide('agent.playbooks.reject', 'Rejected'),
  }
}

const Decide = (props: DecideProps) => {
  const { playbook, version, active } = props
  const { busy, isOpen, activate, reject } = useDeciding(props)
  const { says, tone } = STATES[version.state]
  return (
    <>
      <PaneBody says="The proposal">
        <header className="pane-title">
          <p>
            <span className={`state ${tone}`}>{says}</span>
          </p>
          <h2 dir="auto">
            A new text for <ExactWords text={playbook.name} />
          </h2>
        </header>
        {version.untrusted && (
          <p className="care-note">
            The agent had read words of people outside this workspace before it wrote this. Such
            words can try to steer it: read the whole text.
          </p>
        )}
        <Changes version={version} active={active} />
        <Facts playbook={playbook} version={version} />
      </PaneBody>
      {isOpen && (
        <div className="pane-foot">
          <ActionButton
            calls="agent.playbooks.reject"
            shortcut="rejectPlaybook"
            tone="harm"
            busy={busy}
            act={() => void reject()}
          >
            Reject
          </ActionButton>
          <ActionButton
            calls="agent.playbooks.activate"
            shortcut="activatePlaybook"
            tone="go"
            busy={busy}
            act={() => void activate()}
          >
            Activate
          </ActionButton>
        </div>
      )}
    </>
  )
}

/** `id`: of the version. */
export const PlaybookPane = ({ id, next }: PaneProps) => {
  const read = useRead('agent.playbooks.version', { id })
  if (read.data) {
    const { playbook, version, active } = read.data
    return <Decide {...{ playbook, version, next }} active={active ?? undefined} />
  }
  if (read.error instanceof ApiError && read.error.status === 404)
    return <Empty title="This proposal is no longer kept" />
  return (
    <PaneBody says="The proposal">
      <ReadView read={read} what="The proposal" lines={6}>
        {null}
      </ReadView>
    </PaneBody>
  )
}
