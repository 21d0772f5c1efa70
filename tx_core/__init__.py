"""The core: attention, transformers built on it, and records of their runs. It knows no screen.

Axes are words, fixed once: batch, layer, head, query, key, token, hidden, head_dim, vocab. Sizes carry the
field's names: hidden_size, num_heads, intermediate_size. A mask says True = may attend.

The files in reading order.

Attention: attention, normalise, masks, key_value; step by step on a sentence: steps, sentence_steps.
Where words stand: positions, relative, position_scores; does it matter: equivariance, order_test.
A transformer: config, layers, encoder, decoder, seq2seq, heads, bert; in one pass a step: fused.
A run and its record: trace, interventions, layer_change, tokenizer, plain_text, checkpoint, device, placement, engine,
exchange, bert_engine, errors.
Which models: models, download; other families through our attention: hub, hub_engine, hub_inputs, hub_parts,
hub_shape, hub_reading, recorder.
What a reader is shown of a run: views, sentences; in a file: weights_file; of two runs on a text: attention_shift.
Of two runs side by side: word_alignment, comparison, word_likeness.
Summaries of a run: measures, head_patterns, head_likeness, rollout, value_weighted, logit_lens, attribution;
of many sentences: text_file, sentence_file,
sentence_batches, batch_measures, several_at_once, strongest, head_statistics.
Blanks: blanks, fill_mask, joint_filling, word_scores; under interventions: prediction_shift, head_scan.
Experiments that the pages draw: blocks, ordinary_memory, embedding_run, block_run, feed_forward_run, norm_run,
sentence_depth, mask_kinds, masked_scores, padded_run, position_pictures, seq2seq_shapes, untrained, parity, families.
"""
