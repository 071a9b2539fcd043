/** What a person changes of a call before allowing it: its text, its arguments, or all in JSON. */
import { useMemo, useState } from 'react'
import { textAt, withText } from '#contract/text-argument'
import type { AnswerOf } from '../../api/operations.ts'
import { useTyping } from '../../typed/use-typing.ts'
import {
  type ArgumentField,
  argumentFields,
  argumentsIn,
  argumentsOfJson,
  inJson,
  type ReadArguments,
} from './argument-fields.ts'
import type { CallToDecide } from './state.ts'

export type ToolOfCall = AnswerOf<'agent.tools.get'>['tool']

/** As it is kept in this browser. */
interface Typed {
  text?: string
  fields?: Record<string, string>
  /** All arguments, instead of the two above. */
  json?: string
}

const parsed = (text: string | undefined): Typed | undefined => {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Typed
  } catch {
    return undefined
  }
}

/** The text of a call, and the fields for its other arguments. */
const partsOf = (call: CallToDecide, tool: ToolOfCall | undefined) => {
  const own = textAt(tool?.textField, call)
  const fields = argumentFields(tool?.parameters ?? {}, call.arguments)
  const others: ArgumentField[] = fields.filter(({ name }) => name !== own?.field)
  return { own, others }
}

export const useEdit = (call: CallToDecide, tool: ToolOfCall | undefined) => {
  const kept = useTyping(`call:${call.id}`)
  const [isOpen, setOpen] = useState(kept.text !== undefined)
  const typed = useMemo(() => parsed(kept.text), [kept.text])
  const { own, others } = useMemo(() => partsOf(call, tool), [call, tool])
  const type = (change: Typed) => kept.type(JSON.stringify({ ...typed, ...change }))
  /** What would be sent; undefined if nothing was changed. */
  const read = (): ReadArguments | undefined => {
    if (typed === undefined) return undefined
    if (typed.json !== undefined) return argumentsOfJson(typed.json)
    const found = argumentsIn(others, typed.fields ?? {}, call.arguments)
    if (!own || typed.text === undefined) {
      const ownValue = own && call.arguments[own.field]
      return ownValue === undefined
        ? found
        : { ...found, arguments: { ...found.arguments, [own!.field]: ownValue } }
    }
    return { ...found, arguments: withText(call, own, typed.text, found.arguments) }
  }
  return {
    isOpen,
    typed,
    own,
    others,
    open: () => setOpen(true),
    /** What was typed stays. */
    close: () => setOpen(false),
    typeText: (text: string) => type({ text }),
    typeField: (name: string, text: string) => type({ fields: { ...typed?.fields, [name]: text } }),
    typeJson: (json: string) => type({ json }),
    /** All at once as JSON, beginning with what the form holds. */
    asJson: () => type({ json: inJson(read()?.arguments ?? call.arguments) }),
    asForm: () => kept.type(JSON.stringify({ ...typed, json: undefined })),
    read,
    drop() {
      kept.drop()
      setOpen(false)
    },
  }
}

export type CallEdit = ReturnType<typeof useEdit>
