/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#define OBJECT(attributes, inside) "<object " attributes ">" inside "</object>"
#define INFO(name, value)	   "<info name=\"" name "\" value=\"" value "\"/>"
#define GPU(bus, id, gp, nvml, inside)                                         \
	OBJECT("type=\"PCIDev\" gp_index=\"1" gp "\" pci_busid=\"" bus         \
	       "\" pci_type=\"0302 [10de:" id "] [10de:1] a1\" "               \
	       "pci_link_speed=\"63.015385\"",                                 \
	       OBJECT("type=\"OSDev\" gp_index=\"" gp "\" name=\"" nvml        \
		      "\" osdev_type=\"1\"",                                   \
		      INFO("Backend", "NVML") INFO("GPUModel", "A GPU")        \
			      inside))
#define SWITCH(bus, gp)                                                        \
	OBJECT("type=\"PCIDev\" subtype=\"NVSwitch\" gp_index=\"" gp           \
	       "\" pci_busid=\"" bus "\" pci_type=\"0680 [10de:1ac2]\"",       \
	       "")
#define HOST(inside)                                                           \
	OBJECT("type=\"Bridge\" bridge_type=\"0-1\" gp_index=\"900\"", inside)
#define PORT(bus, speed, inside)                                               \
	OBJECT("type=\"Bridge\" bridge_type=\"1-1\" pci_busid=\"" bus          \
	       "\" pci_type=\"0604 [1000:c030]\" pci_link_speed=\"" speed      \
	       "\"",                                                           \
	       inside)
#define NODE(mask, inside)                                                     \
	OBJECT("type=\"Package\" nodeset=\"" mask "\"",                        \
	       OBJECT("type=\"NUMANode\" cpuset=\"0x3\" nodeset=\"" mask "\"", \
		      "") inside)
#define TOPOLOGY(objects, rest)                                                \
	"<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM "                  \
	"\"hwloc2.dtd\">\n<topology version=\"2.0\">" OBJECT(                  \
		"type=\"Machine\" nodeset=\"0x3\"",                            \
		INFO("DMIProductName", "Box") INFO("hwlocVersion", "2.9.0")    \
			objects) rest "</topology>"
#define MATRIX(n, names, values)                                               \
	"<distances2hetero nbobjs=\"" n "\" name=\"NVLinkBandwidth\">"         \
	"<indexes>" names "</indexes><u64values>" values                       \
	"</u64values></distances2hetero>"

static void damage(void **state)
{
	refuses("<topology><object type=\"PCIDev\" "
		"pci_busid=\"x\"/></topology>",
		"1:11: ", "no PCI address");
	refuses("<topology>", "1:11: ", "ends within");
	refuses("<topology>\n<!ENTITY a \"b\">", "2:", "not XML");
	refuses(TOPOLOGY("", MATRIX("2", "OSDev:1", "0 0 0 0")),
		"3:", "of 2 objects has 1 names and 4 values");
	refuses(TOPOLOGY("", MATRIX("2", "OSDev:1 OSDev:2", "0 0 0 0 0")),
		"3:", "more values than 2 times 2");
	refuses(TOPOLOGY("", MATRIX("1", "OSDev:1 OSDev:2", "0")),
		"3:", "more names");
	refuses(TOPOLOGY("", MATRIX("1", "OSDev:1", "-7")),
		"3:", "\"-7\" is no number");
	refuses(TOPOLOGY("", MATRIX("5000", "", "")),
		"3:", "a matrix of \"5000\" objects");
}

static void cut(void **state)
{
	struct lf_hw *hw = reads(&lf_hw_read_hwloc_xml,
				 "<topology version=\"3.0\">" GPU(
					 "0000:17:00.0", "2330", "5", "nvml0",
					 "") "<object type=\"PCIDev\" "
					     "pci_busid=\"0000:18:00.0\"");

	assert_true(hw->partial);
	assert_int_equal(hw->gpus, 1);
	assert_false(hw->nvlink_shown);
	lf_hw_free(hw);
}

static void direct(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_hwloc_xml,
		TOPOLOGY(NODE("0x1", GPU("0000:17:00.0", "2330", "5", "nvml1",
					 INFO("NVIDIAUUID", "GPU-b")))
				 NODE("0x2",
				      GPU("0000:97:00.0", "2330", "6", "nvml0",
					  INFO("NVIDIAUUID", "anon"))),
			 MATRIX("2", "OSDev:5 OSDev:6",
				"1000000 150000 150000 1000000")));

	assert_string_equal(hw->node.product, "Box");
	assert_int_equal(hw->node.numa_nodes, 2);
	assert_int_equal(hw->gpu[0].index, 0); /* NVML's order */
	assert_string_equal(hw->gpu[0].bus, "0000:97:00.0");
	assert_string_equal(hw->gpu[0].uuid, "");
	assert_string_equal(hw->gpu[1].uuid, "GPU-b");
	assert_string_equal(hw->gpu[1].name, "A GPU");
	assert_int_equal(hw->gpu[0].numa, 1);
	assert_int_equal(hw->gpu[0].pcie.gen, 5);
	assert_int_equal(hw->gpu[0].pcie.width, 16);
	assert_int_equal(hw->gpu[0].links_active, 6);
	assert_int_equal(hw->gpu[0].switch_links, 0);
	assert_int_equal(hw->nvlink[0][1], 6);
	assert_int_equal(hw->path[0][1], LF_PATH_SYS);
	lf_hw_free(hw);
}

/* Three GPUs, two boards of one switch each; the boards' link is not shown. */
static void through_switches(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_hwloc_xml,
		TOPOLOGY(GPU("0000:17:00.0", "1db8", "5", "nvml0",
			     "") GPU("0000:18:00.0", "1db8", "6", "nvml1", "")
				 GPU("0000:19:00.0", "1db8", "7", "nvml2", "")
					 SWITCH("0000:65:00.0", "8")
						 SWITCH("0000:66:00.0", "9"),
			 MATRIX("5",
				"OSDev:5 OSDev:6 OSDev:7 PCIDev:8 PCIDev:9",
				"0 0 0 150000 0  0 0 0 100000 0  "
				"0 0 0 0 150000  150000 100000 0 0 0  "
				"0 0 150000 0 0")));

	assert_int_equal(hw->nvlink[0][1], 4);
	assert_int_equal(hw->nvlink[0][2], -1);
	assert_int_equal(hw->gpu[0].switch_links, 6);
	assert_int_equal(hw->gpu[1].links_active, 4);
	lf_hw_free(hw);
}

static void no_nvlink(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_hwloc_xml,
		TOPOLOGY(GPU("0000:17:00.0", "26b5", "5", "nvml0", "")
				 GPU("0000:18:00.0", "26b5", "6", "nvml1", ""),
			 ""));

	assert_true(hw->nvlink_shown); /* 2.9 with NVML would show one */
	assert_int_equal(hw->nvlink[0][1], 0);
	lf_hw_free(hw);
	hw = reads(&lf_hw_read_hwloc_xml,
		   "<topology version=\"2.0\">" INFO("hwlocVersion", "2.2.0")
			   GPU("0000:17:00.0", "26b5", "5", "nvml0", "")
				   GPU("0000:18:00.0", "26b5", "6", "nvml1",
				       "") "</topology>");
	assert_false(hw->nvlink_shown);
	assert_int_equal(hw->nvlink[0][1], -1);
	lf_hw_free(hw);
}

/* clang-format off: the tree is the point. */
static const char three_paths[] =
	"<?xml version='1.0'?>\n"
	"<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n"
	"<topology version='2.0'>\n"
	" <object type='Machine' nodeset='0x3'>\n"
	"  <info name='DMIProductName' value='Box'/>\n"
	"  <info name='hwlocVersion' value='2.9.0'/>\n"
	"  <object type='Package' nodeset='0x1'>\n"
	"   <object type='NUMANode' cpuset='0x3' nodeset='0x1'></object>\n"
	"   <object type='Bridge' bridge_type='0-1' gp_index='900'>\n"
	"    <object type='Bridge' bridge_type='1-1' pci_busid='0000:10:00.0' "
	"pci_type='0604 [1000:c030]' pci_link_speed='63.015385'>\n"
	"     <object type='Bridge' bridge_type='1-1' pci_busid='0000:11:00.0' "
	"pci_type='0604 [1000:c030]' pci_link_speed='31.507692'>\n"
	"      <object type='Bridge' bridge_type='1-1' "
	"pci_busid='0000:12:00.0' pci_type='0604 [1000:c030]' "
	"pci_link_speed='63.015385'>\n"
	"       <object type='PCIDev' gp_index='15' pci_busid='0000:17:00.0' "
	"pci_type='0302 [10de:2330] [10de:1] a1' pci_link_speed='63.015385'>\n"
	"        <object type='OSDev' gp_index='5' name='nvml0' "
	"osdev_type='1'>\n"
	"         <info name='Backend' value='NVML'/>\n"
	"         <info name='GPUModel' value='A GPU'/>\n"
	"        </object>\n"
	"       </object>\n"
	"      </object>\n"
	"      <object type='Bridge' bridge_type='1-1' "
	"pci_busid='0000:12:01.0' pci_type='0604 [1000:c030]' "
	"pci_link_speed='63.015385'>\n"
	"       <object type='PCIDev' pci_busid='0000:18:00.0' pci_type='0207 "
	"[15b3:1021]' pci_link_speed='63.0'>\n"
	"        <object type='OSDev' name='mlx5_0' osdev_type='3'>\n"
	"         <info name='NodeGUID' value='1:2'/>\n"
	"         <info name='Port1State' value='4'/>\n"
	"         <info name='Port2State' value='1'/>\n"
	"        </object>\n"
	"       </object>\n"
	"      </object>\n"
	"     </object>\n"
	"    </object>\n"
	"    <object type='Bridge' bridge_type='1-1' pci_busid='0000:20:00.0' "
	"pci_type='0604 [1000:c030]' pci_link_speed='63.015385'>\n"
	"     <object type='PCIDev' gp_index='16' pci_busid='0000:21:00.0' "
	"pci_type='0302 [10de:2330] [10de:1] a1' pci_link_speed='63.015385'>\n"
	"      <object type='OSDev' gp_index='6' name='nvml1' osdev_type='1'>\n"
	"       <info name='Backend' value='NVML'/>\n"
	"       <info name='GPUModel' value='A GPU'/>\n"
	"      </object>\n"
	"     </object>\n"
	"    </object>\n"
	"   </object>\n"
	"   <object type='Bridge' bridge_type='0-1' gp_index='900'>\n"
	"    <object type='PCIDev' gp_index='17' pci_busid='0000:31:00.0' "
	"pci_type='0302 [10de:2330] [10de:1] a1' pci_link_speed='63.015385'>\n"
	"     <object type='OSDev' gp_index='7' name='nvml2' osdev_type='1'>\n"
	"      <info name='Backend' value='NVML'/>\n"
	"      <info name='GPUModel' value='A GPU'/>\n"
	"     </object>\n"
	"    </object>\n"
	"   </object>\n"
	"  </object>\n"
	" </object>\n"
	"</topology>\n";
/* clang-format on */

static void paths(void **state)
{
	struct lf_hw *hw = reads(&lf_hw_read_hwloc_xml, three_paths);

	assert_int_equal(hw->nics, 2);
	assert_int_equal(hw->nic[0].port, 1);
	assert_int_equal(hw->nic[0].state, LF_PORT_ACTIVE);
	assert_int_equal(hw->nic[1].state, LF_PORT_DOWN);
	assert_string_equal(hw->nic[0].type, "MT4129");
	assert_string_equal(hw->nic[0].guid, "1:2");
	assert_int_equal(hw->nic[0].layer, LF_LAYER_IB);
	assert_int_equal(hw->nic[0].numa, 0);
	assert_int_equal(hw->nic_path[0][0], LF_PATH_PIX);
	assert_int_equal(hw->nic_path[1][0], LF_PATH_PHB);
	assert_int_equal(hw->nic_path[2][0], LF_PATH_NODE);
	assert_int_equal(hw->path[0][1], LF_PATH_PHB);
	assert_int_equal(hw->gpu[0].pcie.path_gen, 4);
	assert_int_equal(hw->gpu[0].pcie.path_width, 16);
	lf_hw_free(hw);
}

static void speeds(void **state)
{
	static const struct {
		const char *speed;
		int gen, width;
	} rows[] = {
		{ "63.015385", 5, 16 }, { "31.507692", 4, 16 },
		{ "15.753846", 3, 16 }, { "7.876923", 3, 8 },
		{ "2.000000", 1, 8 },	{ "0.250000", 1, 1 },
		{ "0.000000", -1, -1 }, { "17.3", -1, -1 },
		{ "nan", -1, -1 },	{ "-4", -1, -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];
		struct lf_hw *hw;

		(void)snprintf(text, sizeof(text),
			       "<topology><object type=\"PCIDev\" "
			       "pci_busid=\"0000:17:00.0\" "
			       "pci_type=\"0302 [10de:2330]\" "
			       "pci_link_speed=\"%s\"/></topology>",
			       rows[i].speed);
		hw = reads(&lf_hw_read_hwloc_xml, text);
		same(rows[i].speed, "gen", hw->gpu[0].pcie.gen, rows[i].gen);
		same(rows[i].speed, "width", hw->gpu[0].pcie.width,
		     rows[i].width);
		lf_hw_free(hw);
	}
}

static void recordings(void **state)
{
	static const struct {
		const char *file;
		int gpus, nics, nodes, links, in_switch, pair, gen;
		bool shown;
	} rows[] = {
		{ "hwloc/cts1-pascal_p100pcie-2x_v2.xml", 2, 1, 2, -1, -1, -1,
		  3, false },
		{ "hwloc/dell-xe8640_h100-4x_ipa20_v2.xml", 4, 4, 8, 18, 0, 6,
		  5, true },
		{ "hwloc/nvidiaDGX2_v3.xml", 16, 0, 2, 6, 6, 6, 3, true },
		{ "hwloc/power8-minsky_p100-4x_distances_v3.xml", 4, 0, 2, 4, 0,
		  2, 3, true },
		{ "hwloc/nvidia-dgx-gb10_v3.xml", 0, 0, 1, 0, 0, -1, 0, false },
	};

	NEEDS_SHARED();
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *f = rows[i].file;
		struct lf_hw *hw = recording(f);
		const struct lf_hw_gpu *g = hw->gpu;

		same(f, "GPUs", hw->gpus, rows[i].gpus);
		same(f, "NICs", hw->nics, rows[i].nics);
		same(f, "NUMA nodes", hw->node.numa_nodes, rows[i].nodes);
		same(f, "shown", hw->nvlink_shown, rows[i].shown);
		same(f, "links", g->links_active, rows[i].links);
		same(f, "into switches", g->switch_links, rows[i].in_switch);
		same(f, "links 0-1", hw->nvlink[0][1], rows[i].pair);
		same(f, "generation", g->pcie.gen, rows[i].gen);
		same(f, "partial", hw->partial, false);
		lf_hw_free(hw);
	}
}

static void ports_of_a_recording(void **state)
{
	struct lf_hw *hw;

	NEEDS_SHARED();
	hw = recording("hwloc/dell-xe8640_h100-4x_ipa20_v2.xml");
	for (int i = 0; i < hw->nics; i++)
		same(hw->nic[i].name, "state", (int)hw->nic[i].state,
		     strcmp(hw->nic[i].name, "mlx5_0") == 0 ? LF_PORT_ACTIVE
							    : LF_PORT_DOWN);
	assert_int_equal(hw->gpu[2].numa, 7);
	lf_hw_free(hw);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		T(damage),	     T(cut),	    T(direct),
		T(through_switches), T(no_nvlink),  T(paths),
		T(speeds),	     T(recordings), T(ports_of_a_recording),
	};

	return cmocka_run_group_tests_name("hw_hwloc", all, NULL, NULL);
}
