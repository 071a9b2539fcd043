import { expect, test } from 'bun:test'
import { chooseModel, NO_MODEL } from '#domain/agent/job/model-choice'

const models = { fast: 'small', reasoning: 'large', allow: ['special'] }

test.each([
  [undefined, { tier: 'reasoning', asked_model: null, model: 'large' }],
  ['fast', { tier: 'fast', asked_model: 'fast', model: 'small' }],
  ['reasoning', { tier: 'reasoning', asked_model: 'reasoning', model: 'large' }],
  ['special', { tier: 'reasoning', asked_model: 'special', model: 'special' }],
  ['small', { tier: 'fast', asked_model: 'small', model: 'small' }],
  ['dearest', { tier: 'reasoning', asked_model: 'dearest', model: 'large' }],
] as const)('%s', (asked, chosen) => {
  expect(chooseModel(asked, models)).toEqual(chosen)
})

test('without a model the desk answers, whatever was asked for', () => {
  expect(chooseModel('special', NO_MODEL)).toEqual({
    tier: 'reasoning',
    asked_model: 'special',
    model: 'desk',
  })
})
