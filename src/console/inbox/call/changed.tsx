/** What a call is about was changed after it was shown: how, and by whom. */
import type { Refusal } from '../../api/errors.ts'
import { useRead } from '../../api/queries.ts'
import { Bones } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { WordsChanged } from '../../parts/words-changed.tsx'
import type { CallToDecide } from './state.ts'

const useTextNow = ({ kind, id }: { kind: string; id: string }) => {
  const item = useRead('growth.items.get', { id }, { enabled: kind === 'item' })
  const engagement = useRead('growth.engagements.get', { id }, { enabled: kind === 'engagement' })
  return {
    isPending: item.isLoading || engagement.isLoading,
    text: item.data?.item.body ?? engagement.data?.engagement.body,
    state: item.data?.item.status ?? engagement.data?.engagement.status,
  }
}

const Present = ({
  call,
  record,
}: {
  call: CallToDecide
  record: { kind: string; id: string }
}) => {
  const { isPending, text, state } = useTextNow(record)
  const before = call.subject.text
  if (isPending) return <Bones lines={2} />
  if (before !== null && text && text !== before)
    return (
      <>
        <h3>What changed in the text</h3>
        <WordsChanged before={before} after={text} called={['As it was shown', 'Now']} />
      </>
    )
  return state === undefined ? null : (
    <p>
      The text is the same. The {record.kind} is {state.replaceAll('_', ' ')} now.
    </p>
  )
}

/** `told`: what the server said to the decision. */
export const ChangedSince = ({ call, told }: { call: CallToDecide; told: Refusal }) => {
  const [record] = call.subject.records
  return (
    <section className="conflict" role="alert" aria-label="It has changed">
      <h3>This is no longer what was shown</h3>
      <p>
        <bdi>{told.by?.name ?? 'Somebody'}</bdi> changed what this call is about
        {told.at && (
          <>
            , <When at={told.at} />
          </>
        )}
        . Nothing was done. Refuse it, and the agent can ask again with what holds now.
      </p>
      {record && <Present call={call} record={record} />}
    </section>
  )
}
