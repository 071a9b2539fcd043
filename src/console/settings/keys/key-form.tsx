/** The form that makes a key. */
import { useState } from 'react'
import type { Scope } from '#kernel/scopes'
import type { AnswerOf } from '../../api/operations.ts'
import { queryClient } from '../../api/queries.ts'
import { faultOf, useCommand } from '../../api/use-command.ts'
import { boot } from '../../boot.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ChoiceList, type ListedChoice, TextField } from '../../parts/fields.tsx'
import { Failed } from '../../parts/states.tsx'
import { endOf, type Life, lives } from './life.ts'

const scopeChoices: ListedChoice<Scope>[] = [
  { value: 'mcp:use', says: 'Connect over MCP', hint: 'For agents and MCP clients.' },
  { value: 'api:read', says: 'Read', hint: 'Everything that its owner can see.' },
  {
    value: 'api:write',
    says: 'Change',
    hint: 'Whatever the role of its owner allows; an approver’s key can approve.',
  },
  {
    value: 'workspace:use',
    says: 'Use the workspace agent',
    hint: 'Conversations, documents and channels.',
  },
]

const isOwner = boot.session.role === 'owner'

const owners: ListedChoice<'me' | 'workspace'>[] = [
  { value: 'me', says: 'Me', hint: 'It can do what I can, and ends with my membership.' },
  {
    value: 'workspace',
    says: 'The workspace',
    hint: 'It outlives memberships.',
    refused: isOwner ? undefined : 'Only owners can make keys of the workspace.',
  },
]

const lifeChoices = Object.entries(lives).map(([value, says]) => ({ value: value as Life, says }))

const useKeyForm = (show: (made: AnswerOf<'app.keys.create'>) => void) => {
  const create = useCommand('app.keys.create')
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<Scope[]>(['mcp:use', 'api:read'])
  const [belongsTo, setBelongsTo] = useState<'me' | 'workspace'>('me')
  const [life, setLife] = useState<Life>('never')
  const toggle = (scope: Scope) =>
    setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
  const make = async () => {
    if (create.isRunning) return
    const expires_at = endOf(life, Date.now())
    const input = { name, scopes, belongs_to: belongsTo, ...(expires_at && { expires_at }) }
    const made = await create.run(input)
    if (!made) return
    show(made)
    await queryClient.invalidateQueries({ queryKey: ['app.keys.list'] })
  }
  const missing =
    name.trim() === ''
      ? 'Give the key a name first.'
      : scopes.length === 0
        ? 'Choose what it may do first.'
        : undefined
  const values = { name, scopes, belongsTo, life }
  return { ...values, setName, toggle, setBelongsTo, setLife, make, missing, create }
}

type KeyFormState = ReturnType<typeof useKeyForm>

const Actions = ({ form, close }: { form: KeyFormState; close(): void }) => (
  <div className="panel-actions">
    <button type="button" className="action plain" onClick={close}>
      Cancel
    </button>
    <ActionButton
      calls="app.keys.create"
      tone="go"
      refused={form.missing}
      busy={form.create.isRunning}
      act={() => void form.make()}
    >
      {form.create.isRunning ? 'Making it…' : 'Make the key'}
    </ActionButton>
  </div>
)

const Choices = ({ form }: { form: KeyFormState }) => (
  <>
    <ChoiceList
      legend="It may"
      type="checkbox"
      choices={scopeChoices}
      chosen={form.scopes}
      choose={form.toggle}
      fault={faultOf(form.create.cause, 'scopes')}
    />
    <ChoiceList
      legend="It belongs to"
      type="radio"
      choices={owners}
      chosen={[form.belongsTo]}
      choose={(owner) => form.setBelongsTo(owner)}
    />
    <ChoiceList
      legend="It ends"
      type="radio"
      choices={lifeChoices}
      chosen={[form.life]}
      choose={(life) => form.setLife(life)}
      fault={faultOf(form.create.cause, 'expires_at')}
    />
  </>
)

export const KeyForm = ({
  close,
  show,
}: {
  close(): void
  show(made: AnswerOf<'app.keys.create'>): void
}) => {
  const form = useKeyForm(show)
  const { cause } = form.create
  return (
    <form
      className="panel"
      aria-label="Make a key"
      onSubmit={(event) => {
        event.preventDefault()
        if (form.missing === undefined) void form.make()
      }}
    >
      <TextField
        label="Name"
        hint="What uses it, such as “Release script”."
        fault={faultOf(cause, 'name')}
        value={form.name}
        change={form.setName}
        maxLength={160}
        autoComplete="off"
        autoFocus
      />
      <Choices form={form} />
      {cause !== undefined && <Failed cause={cause} what="The key was not made." />}
      <Actions form={form} close={close} />
    </form>
  )
}
