import { describe, expect, test } from 'bun:test'
import { productRecord } from '#contract/records/growth/product'
import {
  newProduct,
  type Product,
  productLimits,
  productsForBrief,
  updateProduct,
} from '#domain/growth/drafting/product'
import { errorOf } from '#test/domain/errors'
import { at } from '#test/domain/records'

const product: Product = Object.freeze({
  ...productRecord.blank,
  id: 'product-1',
  name: 'Loopline',
  one_liner: 'Onboarding that asks one question',
  url: 'https://loopline.example/',
  status: 'active',
  created_at: at(),
  updated_at: at(),
})
const archived: Product = Object.freeze({ ...product, status: 'archived' })
const alone = { total: 0, active: 0, taken: false }
const { name, one_liner, url } = product

describe('a new product', () => {
  const add = (others: Partial<typeof alone>) => () =>
    newProduct('product-1', { name, one_liner, url, others: { ...alone, ...others }, now: at() })

  test('is active, with its texts trimmed', () => {
    expect(
      newProduct('product-1', {
        name: ' Loopline ',
        one_liner: `${one_liner}  `,
        url,
        others: alone,
        now: at(),
      }),
    ).toEqual(product)
  })

  test.each([
    [{ taken: true }, 'cannot add: an active product is named Loopline'],
    [
      { active: productLimits.active },
      `cannot add: ${productLimits.active} products are active; archive one first`,
    ],
    [
      { total: productLimits.all },
      `cannot add: the workspace has ${productLimits.all} products; edit an archived one and make it active instead`,
    ],
  ])('is refused beside %j', (others, message) =>
    expect(errorOf(add(others))).toMatchObject({ code: 'conflict', message }),
  )

  test('may be the last one within the limit', () => {
    expect(add({ active: productLimits.active - 1, total: productLimits.all - 1 })().status).toBe(
      'active',
    )
  })
})

describe('a change', () => {
  const change = (
    before: Product,
    patch: Parameters<typeof updateProduct>[1],
    others: Partial<typeof alone> = {},
  ) => updateProduct(before, patch, { others: { ...alone, ...others }, now: at(1_000) })

  test('leaves fields it does not name; null removes the address', () => {
    expect(change(product, {})).toEqual({ ...product, updated_at: at(1_000) })
    expect(change(product, { name: ' Loop ', url: null })).toEqual({
      ...product,
      name: 'Loop',
      url: null,
      updated_at: at(1_000),
    })
  })

  test('can archive and reactivate any number of times', () => {
    expect(change(product, { status: 'archived' }).status).toBe('archived')
    expect(change(archived, { status: 'archived' }).status).toBe('archived')
    expect(change(archived, { status: 'active' }).status).toBe('active')
  })

  test('to active needs a free name and room within the limit; an archived product needs neither', () => {
    const full = { taken: true, active: productLimits.active }
    expect(errorOf(() => change(archived, { status: 'active' }, full)).message).toBe(
      'cannot change: an active product is named Loopline',
    )
    expect(errorOf(() => change(product, { name: 'Loop' }, { taken: true })).message).toBe(
      'cannot change: an active product is named Loop',
    )
    expect(
      errorOf(() => change(archived, { status: 'active' }, { ...full, taken: false })).code,
    ).toBe('conflict')
    expect(change(archived, { one_liner: 'x' }, full).one_liner).toBe('x')
    expect(change(product, { status: 'archived' }, full).status).toBe('archived')
  })
})

test('a brief has the active products and the names of the archived ones', () => {
  expect(productsForBrief([product, { ...archived, name: 'Old Line' }])).toEqual({
    products: [{ name, one_liner, url }],
    archived: ['Old Line'],
  })
})
