/** Whether anything goes out unattended, and the switch that stops it all. */
import { useState } from 'react'
import { errorWords } from '../api/errors.ts'
import { command, queryClient, useRead } from '../api/queries.ts'
import { ActionButton } from '../parts/action.tsx'
import { AskFirst } from '../parts/dialog.tsx'
import { When } from '../parts/when.tsx'
import { notify } from './notices.ts'
import { overdueWords } from './overdue-words.ts'

const READ = 'growth.automation.get'

const change = async (id: 'growth.automation.pauseAll' | 'growth.automation.resumeAll') => {
  try {
    await command(id, {})
    notify({
      says:
        id === 'growth.automation.pauseAll' ? 'All automation is paused' : 'Automation runs again',
    })
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
  }
  await queryClient.invalidateQueries({ queryKey: [READ] })
}

const Resume = ({
  overdue,
  close,
}: {
  overdue: { sent: number; skipped: number }
  close(): void
}) => (
  <AskFirst
    title="Resume automation?"
    does="Resume"
    act={() => {
      close()
      void change('growth.automation.resumeAll')
    }}
    close={close}
  >
    <p>{overdueWords(overdue)}</p>
  </AskFirst>
)

const wordOf = ({
  held,
  paused_everywhere_since: everywhere,
  paused,
}: {
  held: object | null
  paused_everywhere_since: string | null
  paused: boolean
}): string => {
  if (held) return 'Held by the operator'
  if (everywhere) return 'All workspaces paused by the operator'
  return paused ? 'Paused' : 'Running'
}

/** It asks nothing: pausing is safe. */
export const AutomationState = () => {
  const read = useRead(READ, {})
  const [asks, setAsks] = useState(false)
  const state = read.data?.automation
  if (!state) return null
  const isStopped = state.paused || state.held !== null || state.paused_everywhere_since !== null
  return (
    <div className={`automation ${isStopped ? 'is-paused' : ''}`}>
      <p>
        <span className="dot" aria-hidden="true" />
        {wordOf(state)}
        {state.since && (
          <span className="soft">
            {' '}
            since <When at={state.since} />
            {state.by?.name && (
              <>
                {' '}
                by <bdi>{state.by.name}</bdi>
              </>
            )}
          </span>
        )}
      </p>
      {state.paused ? (
        <ActionButton calls="growth.automation.resumeAll" act={() => setAsks(true)}>
          Resume
        </ActionButton>
      ) : (
        <ActionButton
          calls="growth.automation.pauseAll"
          shortcut="pause"
          act={() => void change('growth.automation.pauseAll')}
        >
          Pause all
        </ActionButton>
      )}
      {asks && state.on_resuming && (
        <Resume overdue={state.on_resuming} close={() => setAsks(false)} />
      )}
    </div>
  )
}
