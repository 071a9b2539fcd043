import { describe } from 'bun:test'
import { thinkerCases } from '#test/cases/thinker'

describe('streamed', () => thinkerCases(true))
describe('as a whole', () => thinkerCases(false))
