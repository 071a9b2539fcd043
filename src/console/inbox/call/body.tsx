/** The exact text and the arguments of a call, to read or to change. */
import { useEffect, useRef } from 'react'
import { Exact, ExactText, ExactWords } from '../../parts/exact-text.tsx'
import { Labelled } from '../../parts/labelled.tsx'
import { WordsChanged } from '../../parts/words-changed.tsx'
import { markOf } from '../draft/mark.ts'
import { argumentFields, inJson } from './argument-fields.ts'
import { ArgumentsForm, ArgumentsShown } from './arguments.tsx'
import type { CallToDecide } from './state.ts'
import type { CallEdit, ToolOfCall } from './use-edit.ts'

/** The text that goes out, or is kept, as the record has it. */
const TheText = ({
  call,
  edit,
  isJson,
}: {
  call: CallToDecide
  edit: CallEdit
  isJson: boolean
}) => {
  const text = edit.own?.text ?? call.subject.text
  if (text === null || text === undefined) return null
  const { account, sha256 } = call.subject
  return (
    <article className="post" aria-label="The exact text">
      <ExactText text={text} look={isJson ? 'mono' : 'post'} />
      <p className="post-foot soft">
        <span>
          {account === null ? (
            'The exact text'
          ) : (
            <>
              From <ExactWords text={account} />
            </>
          )}
        </span>
        <span className="mono">{markOf(sha256)}</span>
      </p>
    </article>
  )
}

/** The arguments that only name the records of the summary and the text. */
const recordsIn = ({ arguments: given, subject }: CallToDecide): string[] =>
  Object.keys(given).filter((name) => subject.records.some(({ id }) => id === given[name]))

/** The focus goes to the first field as editing begins. */
const useFirstField = () => {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    ref.current?.querySelector<HTMLElement>('textarea, input, select')?.focus()
  }, [])
  return ref
}

const AsJson = ({ edit, flaw }: { edit: CallEdit; flaw: string | undefined }) => (
  <>
    <Labelled
      label="Arguments as JSON"
      about="The call is made with these."
      flaw={flaw === undefined ? undefined : `: ${flaw}`}
    >
      {({ id, describedBy, isWrong }) => (
        <textarea
          id={id}
          className="mono"
          name="arguments"
          autoComplete="off"
          rows={8}
          aria-describedby={describedBy}
          aria-invalid={isWrong}
          value={edit.typed?.json ?? ''}
          onChange={({ target }) => edit.typeJson(target.value)}
        />
      )}
    </Labelled>
    <button type="button" className="link-button" onClick={edit.asForm}>
      Back to the form
    </button>
  </>
)

interface Flawed {
  flaws: Readonly<Record<string, string>>
}

const AsForm = ({ call, edit, flaws }: { call: CallToDecide; edit: CallEdit } & Flawed) => {
  const { own, others, typed } = edit
  const text = typed?.text ?? own?.text ?? ''
  return (
    <>
      {own && (
        <Labelled label="Text" flaw={flaws[own.field]}>
          {({ id, describedBy, isWrong }) => (
            <textarea
              id={id}
              className="post-text"
              name="text"
              autoComplete="off"
              dir="auto"
              rows={4}
              aria-describedby={describedBy}
              aria-invalid={isWrong}
              value={text}
              onChange={({ target }) => edit.typeText(target.value)}
            />
          )}
        </Labelled>
      )}
      {own && text !== own.text && (
        <section className="pane-part" aria-label="Your changes">
          <h3>Your changes</h3>
          <WordsChanged before={own.text} after={text} called={['Before', 'Yours']} />
        </section>
      )}
      <ArgumentsForm
        fields={others}
        given={call.arguments}
        typed={typed?.fields ?? {}}
        flaws={flaws}
        type={edit.typeField}
      />
      <button type="button" className="link-button" onClick={edit.asJson}>
        Change it as JSON
      </button>
    </>
  )
}

const Editing = ({ call, edit, flaws }: { call: CallToDecide; edit: CallEdit } & Flawed) => {
  const ref = useFirstField()
  return (
    <div className="editing" ref={ref}>
      {flaws[''] !== undefined && (
        <p className="flaw" role="alert">
          <Exact text={flaws['']} />
        </p>
      )}
      {edit.typed?.json === undefined ? (
        <AsForm call={call} edit={edit} flaws={flaws} />
      ) : (
        <AsJson edit={edit} flaw={flaws['']} />
      )}
    </div>
  )
}

interface CallBodyProps extends Flawed {
  call: CallToDecide
  tool: ToolOfCall | undefined
  edit: CallEdit
  isEditing: boolean
}

export const CallBody = ({ call, tool, edit, isEditing, flaws }: CallBodyProps) => {
  if (isEditing) return <Editing call={call} edit={edit} flaws={flaws} />
  const { own, typed } = edit
  return (
    <>
      <TheText call={call} edit={edit} isJson={tool?.ofServer ?? false} />
      {typed !== undefined && (
        <section className="pane-part" aria-label="Your changes">
          <h3>With your changes</h3>
          <ExactText text={inJson(edit.read()?.arguments ?? {})} look="mono" />
        </section>
      )}
      <ArgumentsShown
        fields={argumentFields(tool?.parameters ?? {}, call.arguments)}
        given={call.arguments}
        leftOut={[...(own ? [own.field] : []), ...recordsIn(call)]}
      />
    </>
  )
}
